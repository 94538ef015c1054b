package profile

// RowsWhere returns the rows that are wanted; see Keep.
func (p *Profile) RowsWhere(wanted func(row int) bool) Rows {
	rows := newRows(p.NumSamples())
	for row := range p.NumSamples() {
		if wanted(row) {
			rows.add(row)
		}
	}
	return rows
}
