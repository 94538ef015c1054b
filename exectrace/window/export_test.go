package window

// Coarse is Overview of the index's columns alone, however short the stretch.
func (x *Index) Coarse(from, to int64, columns int) *Overview { return x.coarse(from, to, columns) }
