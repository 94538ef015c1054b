//go:build hone_inputs

package probe

import (
	hone0reflect "reflect"
	hone0runtime "runtime"
	hone0strconv "strconv"
	hone0strings "strings"
)

// hone0last counts the calls that have the same input as the last one with the same key. It keeps
// the keys whose hashes end with depth zeros, so that there are never too many: see hone0distinct.
type hone0last struct {
	inputs         map[uint64]uint64 // hash of the last input, by the hash of the key
	depth          uint
	followed, same int64
}

func (l *hone0last) add(key, input uint64) {
	if key&(1<<l.depth-1) != 0 {
		return
	}
	if last, ok := l.inputs[key]; ok {
		l.followed++
		if last == input {
			l.same++
		}
	}
	if l.inputs == nil {
		l.inputs = map[uint64]uint64{}
	}
	l.inputs[key] = input
	for len(l.inputs) > hone0inputKept {
		l.depth++
		kept := map[uint64]uint64{}
		for key, input := range l.inputs {
			if key&(1<<l.depth-1) == 0 {
				kept[key] = input
			}
		}
		l.inputs = kept
	}
}

// hone0agains are the calls by each key of their input: see hone0keys.
type hone0agains [1 + hone0inputParts]hone0last

func (a *hone0agains) add(keys [1 + hone0inputParts]uint64, input uint64) {
	for i, key := range keys {
		if key != 0 {
			a[i].add(key, input)
		}
	}
}

// append appends the counts to a line.
func (a *hone0agains) append(text []byte) []byte {
	for i := range a {
		text = hone0strconv.AppendInt(append(text, ' '), a[i].followed, 10)
		text = hone0strconv.AppendInt(append(text, ' '), a[i].same, 10)
	}
	return text
}

// hone0site is a line that calls a function.
type hone0site struct {
	file string
	line int
}

// hone0caller returns the line that called the watched function, from another package.
func hone0caller() hone0site {
	var pcs [8]uintptr
	frames := hone0runtime.CallersFrames(pcs[:hone0runtime.Callers(3, pcs[:])])
	own := ""
	for {
		f, more := frames.Next()
		pkg := f.Function
		slash := hone0strings.LastIndex(pkg, "/") + 1
		if dot := hone0strings.Index(pkg[slash:], "."); dot >= 0 {
			pkg = pkg[:slash+dot]
		}
		switch {
		case own == "":
			own = pkg
		case pkg != own:
			return hone0site{f.File, f.Line}
		}
		if !more {
			return hone0site{}
		}
	}
}

// at returns the counts of a line; nil if there are too many lines. The caller holds w.mu.
func (w *hone0watched) at(site hone0site) *hone0agains {
	if site.line == 0 {
		return nil
	}
	a := w.sites[site]
	if a == nil && len(w.sites) < hone0inputSites {
		if w.sites == nil {
			w.sites = map[hone0site]*hone0agains{}
		}
		a = &hone0agains{}
		w.sites[site] = a
	}
	return a
}

// hone0keys returns hashes of the parts of an input that may say which object a call is about:
// first of none of them, which is the same for all calls, then of each parameter. The elements of a
// last parameter ...interface{} are parts of their own, each together with the parameters before
// it, such as a statement. It is 0 for what is not a short text or a number. open reports whether
// there is such a last parameter.
func hone0keys(args []interface{}) (keys [1 + hone0inputParts]uint64, open bool) {
	keys[0] = 1 << 63
	h := hone0hasher{}
	h.SetSeed(hone0seed)
	at := 1
	for i, a := range args {
		list, ok := a.([]interface{})
		if !ok || i < len(args)-1 {
			if at < len(keys) {
				keys[at] = h.key(hone0reflect.ValueOf(a))
			}
			at++
			continue
		}
		open = true
		before := hone0hasher{}
		before.SetSeed(hone0seed)
		for _, a := range args[:i] {
			before.value(hone0reflect.ValueOf(a), 0)
		}
		statement := before.Sum64()
		for j := 0; j < len(list) && at < len(keys); j++ {
			if keys[at] = h.key(hone0reflect.ValueOf(list[j])); keys[at] != 0 {
				h.word(statement)
				keys[at] = h.Sum64() | 1<<63
			}
			at++
		}
	}
	return keys, open
}

// key returns a hash of a short text or a number, or of the first such field of a struct whose name
// says that it identifies the struct; 0 for others. It leaves the hasher so that more can be added.
func (h *hone0hasher) key(v hone0reflect.Value) uint64 {
	h.Reset()
	if v.Kind() == hone0reflect.Ptr && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() == hone0reflect.Struct {
		t := v.Type()
		for i := 0; i < t.NumField(); i++ {
			switch hone0strings.ToLower(t.Field(i).Name) {
			case "id", "uid", "uuid", "key":
				return h.key(v.Field(i))
			}
		}
		return 0
	}
	switch v.Kind() {
	case hone0reflect.Int, hone0reflect.Int8, hone0reflect.Int16, hone0reflect.Int32, hone0reflect.Int64,
		hone0reflect.Uint, hone0reflect.Uint8, hone0reflect.Uint16, hone0reflect.Uint32, hone0reflect.Uint64:
	case hone0reflect.String:
		if v.Len() > hone0inputKey {
			return 0
		}
	case hone0reflect.Array:
		if v.Len() != 16 || v.Type().Elem().Kind() != hone0reflect.Uint8 { // a UUID
			return 0
		}
	default:
		return 0
	}
	h.value(v, 0)
	return h.Sum64() | 1<<63
}
