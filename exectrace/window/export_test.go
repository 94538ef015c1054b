package window

// Coarse is Overview from the index's columns alone, however short the interval.
func (x *Index) Coarse(from, to int64, columns int) *Overview { return x.coarse(from, to, columns) }
