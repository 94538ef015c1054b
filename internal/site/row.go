package site

// Below reports whether a function is leafward of the charged frame, by exact name or by prefix
// when name ends in "*" ("runtime.concatstring*"). In a row without a charged frame the whole stack
// is searched.
func (r *Row) Below(name string) bool {
	frames := r.Stack
	if r.Owner >= 0 {
		frames = frames[:r.Owner]
	}
	for _, f := range frames {
		if matches(f.Function, name) {
			return true
		}
	}
	return false
}

// collector reports whether a row is work of the collector.
func (c Class) collector() bool {
	return c == Assist || c == MarkWorker || c == IdleMark || c == Sweep
}
