//go:build hone_inputs

package probe

import (
	hone0reflect "reflect"
	hone0strconv "strconv"
)

// hone0values sums up what the values of one parameter or result were like.
type hone0values struct {
	seen   int64
	empty  int64 // nil, false, zero, or without elements
	length int64 // bytes of texts, elements of other slices and of maps
	texts  int64 // strings and []byte that are not empty
	ascii  int64 // of these, without other characters
	same   int64 // of a result: texts that are equal to the longest text of the parameters

	// Texts that begin with the last text about the same object: how many, their bytes, and the
	// bytes after the part that was there before.
	grown, grownBytes, newBytes int64
	last                        map[uintptr]hone0prefix

	rest int64 // of a parameter: texts that are the last text about the same object, or its end

	fed int64 // of a parameter: values that the function returned shortly before
}

// hone0gaveKept is the number of results of a function whose addresses are kept. Of more, some
// could be of memory that was freed and is in use again.
const hone0gaveKept = 64

// hone0address returns the address of what a pointer or a slice refers to; 0 for other values.
func hone0address(v hone0reflect.Value) uintptr {
	if v.Kind() == hone0reflect.Interface {
		v = v.Elem()
	}
	switch v.Kind() {
	case hone0reflect.Ptr:
		return v.Pointer()
	case hone0reflect.Slice:
		if v.Len() > 0 {
			return v.Pointer()
		}
	}
	return 0
}

// feeds reports whether an address is that of a result of one of the last calls.
func (w *hone0watched) feeds(address uintptr) bool {
	for _, kept := range w.gaveAt {
		if address != 0 && kept == address {
			return true
		}
	}
	return false
}

// hone0prefix is the last text about an object.
type hone0prefix struct {
	n     int
	sum   uint64
	start uintptr // its address
}

// hone0sum hashes a text.
func hone0sum(text []byte) uint64 {
	h := hone0hasher{}
	h.SetSeed(hone0seed)
	h.Write(text)
	return h.Sum64()
}

// add adds a value. It returns the text, if it is one that may be hashed.
func (s *hone0values) add(v hone0reflect.Value) (text []byte, ok bool) {
	s.seen++
	n := 0
	switch v.Kind() {
	case hone0reflect.Invalid:
	case hone0reflect.String:
		text, ok = hone0bytes(v.String()), true
		n = len(text)
	case hone0reflect.Slice:
		if n = v.Len(); v.Type().Elem().Kind() == hone0reflect.Uint8 {
			text, ok = v.Bytes(), true
		}
	case hone0reflect.Map, hone0reflect.Array, hone0reflect.Chan:
		n = v.Len()
	case hone0reflect.Bool:
		if !v.Bool() {
			s.empty++
		}
		return nil, false
	case hone0reflect.Int, hone0reflect.Int8, hone0reflect.Int16, hone0reflect.Int32, hone0reflect.Int64:
		if v.Int() == 0 {
			s.empty++
		}
		return nil, false
	case hone0reflect.Ptr, hone0reflect.Interface, hone0reflect.Func, hone0reflect.UnsafePointer:
		if v.IsNil() {
			s.empty++
		}
		return nil, false
	default:
		return nil, false
	}
	s.length += int64(n)
	if n == 0 {
		s.empty++
	}
	if n == 0 || !ok || n > hone0inputBytes {
		return nil, false
	}
	s.texts++
	if hone0ascii(text) {
		s.ascii++
	}
	return text, true
}

func hone0ascii(text []byte) bool {
	for _, c := range text {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// follow compares a text with the last one about the same object: its content, and where in memory
// it is.
func (s *hone0values) follow(object uintptr, text []byte) {
	if len(text) < hone0inputText {
		return
	}
	last, ok := s.last[object]
	start := hone0reflect.ValueOf(text).Pointer()
	if ok && start >= last.start && start+uintptr(len(text)) == last.start+uintptr(last.n) {
		s.rest++
	}
	if ok && last.n < len(text) && hone0sum(text[:last.n]) == last.sum {
		s.grown++
		s.grownBytes += int64(len(text))
		s.newBytes += int64(len(text) - last.n)
	}
	if s.last == nil || len(s.last) > hone0inputKept {
		s.last = map[uintptr]hone0prefix{}
	}
	s.last[object] = hone0prefix{len(text), hone0sum(text), start}
}

// given adds the parameters of a call. The object of a call is its receiver or, without one, the
// request. The caller holds w.mu.
func (w *hone0watched) given(receiver interface{}, request uintptr, args []interface{}) {
	object := request
	if r := hone0reflect.ValueOf(receiver); r.Kind() == hone0reflect.Ptr {
		object = r.Pointer()
	}
	for i, a := range args {
		if i >= hone0inputParams {
			break
		}
		v := hone0reflect.ValueOf(a)
		if w.feeds(hone0address(v)) {
			w.args[i].fed++
		}
		if text, ok := w.args[i].add(v); ok {
			w.args[i].follow(object, text)
		}
	}
}

// gave adds the results of a call whose longest text had the hash given. The caller holds w.mu.
func (w *hone0watched) gave(given uint64, results []interface{}) {
	for i, r := range results {
		if i >= len(w.outs) {
			break
		}
		v := hone0reflect.ValueOf(r).Elem()
		if at := hone0address(v); at != 0 {
			w.gaveAt[w.gaveNext%hone0gaveKept] = at
			w.gaveNext++
		}
		if text, ok := w.outs[i].add(v); ok && hone0sum(text) == given {
			w.outs[i].same++
		}
	}
}

// append appends a line.
func (s *hone0values) append(text []byte, word string, id, i int) []byte {
	if s.seen == 0 {
		return text
	}
	text = append(text, word...)
	for _, n := range []int64{int64(id), int64(i), s.seen, s.empty, s.length, s.texts, s.ascii, s.same, s.grown, s.grownBytes, s.newBytes, s.fed, s.rest} {
		text = hone0strconv.AppendInt(append(text, ' '), n, 10)
	}
	return append(text, '\n')
}
