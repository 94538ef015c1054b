package profile

// Part is a part of a sample row.
type Part struct {
	Labels []Label
	Values []int64 // one value per sample type
}

// Split returns p with every row replaced by parts of it, which have the row's stack and the labels
// and values of the part. A row without parts is dropped. Stacks and tables are shared with p.
func (p *Profile) Split(parts func(row int) []Part) *Profile {
	q := *p
	q.stacks.Spans = nil
	q.values = make([][]int64, len(p.values))
	q.labelSet = nil
	labels := newLabelInterner()
	for row := range p.NumSamples() {
		for _, part := range parts(row) {
			q.stacks.Spans = append(q.stacks.Spans, p.stacks.Spans[row])
			q.labelSet = append(q.labelSet, labels.addLabels(part.Labels))
			for i := range q.values {
				q.values[i] = append(q.values[i], part.Values[i])
			}
		}
	}
	q.labels = labels.table
	return &q
}
