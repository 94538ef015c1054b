//go:build hone_inputs

package probe

import (
	hone0reflect "reflect"
	hone0runtime "runtime"
	hone0strconv "strconv"
	hone0sync "sync"
)

// hone0results compares what a function returns with what it returned for the same input before. It
// keeps the inputs whose hashes end with depth zeros, so that there are never too many: see
// hone0distinct.
type hone0results struct {
	first          map[uint64]uint64 // hash of the first result, by the hash of the input
	depth          uint
	compared, same int64
}

func (r *hone0results) wants(input uint64) bool { return input&(1<<r.depth-1) == 0 }

func (r *hone0results) add(input, result uint64) {
	if !r.wants(input) {
		return
	}
	if first, ok := r.first[input]; ok {
		r.compared++
		if first == result {
			r.same++
		}
		return
	}
	if r.first == nil {
		r.first = map[uint64]uint64{}
	}
	r.first[input] = result
	for len(r.first) > hone0inputKept {
		r.depth++
		kept := map[uint64]uint64{}
		for in, out := range r.first {
			if r.wants(in) {
				kept[in] = out
			}
		}
		r.first = kept
	}
}

// hone0running counts overlapping calls: a call that starts before an earlier call with the same
// input (compared as in stable), on another goroutine, has returned.
type hone0running struct {
	running     map[uint64]int // calls by their input
	overlapping int64
}

func (r *hone0running) enter(input uint64) {
	if r.running == nil {
		r.running = map[uint64]int{}
	}
	if r.running[input] > 0 && !hone0nested() {
		r.overlapping++
	}
	r.running[input]++
}

// hone0nested reports whether the watched function calls itself, directly or not: without
// parameters, or with a receiver that changes, that may be with the same input.
func hone0nested() bool {
	var pcs [64]uintptr
	frames := hone0runtime.CallersFrames(pcs[:hone0runtime.Callers(4, pcs[:])]) // above enter and hone0input
	own, more := frames.Next()
	for more {
		var f hone0runtime.Frame
		if f, more = frames.Next(); f.Function == own.Function {
			return true
		}
	}
	return false
}

// leave records the end of a call, which may have started before the counts were cleared.
func (r *hone0running) leave(input uint64) {
	if r.running[input] > 1 {
		r.running[input]--
	} else {
		delete(r.running, input)
	}
}

// returned hashes the results of a call, given their addresses, the call's input and the hash of
// its longest text. A result that is identified only by its address is not compared.
func (w *hone0watched) returned(input, text uint64, results []interface{}) {
	w.mu.Lock()
	w.leave(input)
	w.gave(text, results)
	w.mu.Unlock()
	if len(results) == 0 {
		return
	}
	h := hone0hasher{}
	h.SetSeed(hone0seed)
	nodes := hone0resultNodes
	for _, r := range results {
		if !h.result(hone0reflect.ValueOf(r).Elem(), &nodes, 0) {
			return
		}
	}
	sum := h.Sum64()
	w.mu.Lock()
	w.results.add(input, sum)
	w.mu.Unlock()
}

// Limits for one result: how many values are read, and how deep pointers are followed.
const (
	hone0resultNodes = 512
	hone0resultDepth = 5
)

// result hashes a result by its content. It follows pointers to data that, by its type, other
// goroutines do not change: what has a lock, an atomic value or a channel in it is not read. For
// maps it hashes the length. It reports whether the result can be compared.
func (h *hone0hasher) result(v hone0reflect.Value, nodes *int, depth int) bool {
	if *nodes--; *nodes < 0 {
		return true // the first values are enough
	}
	h.word(uint64(v.Kind()))
	switch v.Kind() {
	case hone0reflect.Ptr, hone0reflect.Interface:
		if v.IsNil() {
			return true
		}
		if v.Kind() == hone0reflect.Ptr && (depth >= hone0resultDepth || hone0changes(v.Type().Elem(), 0)) {
			return false
		}
		return h.result(v.Elem(), nodes, depth+1)
	case hone0reflect.Map:
		h.word(uint64(v.Len()))
		return true
	case hone0reflect.Chan, hone0reflect.Func, hone0reflect.UnsafePointer:
		return v.IsNil()
	case hone0reflect.Struct:
		if hone0changes(v.Type(), 0) {
			return false
		}
		for i := 0; i < v.NumField(); i++ {
			if !h.result(v.Field(i), nodes, depth) {
				return false
			}
		}
		return true
	case hone0reflect.Slice, hone0reflect.Array:
		if v.Kind() == hone0reflect.Array || v.Type().Elem().Kind() != hone0reflect.Uint8 {
			h.word(uint64(v.Len()))
			for i := 0; i < v.Len() && *nodes > 0; i++ {
				if !h.result(v.Index(i), nodes, depth) {
					return false
				}
			}
			return true
		}
	}
	h.kind = hone0byValue
	h.value(v, 0)
	return h.kind == hone0byValue
}

// hone0changes reports whether values of a type are meant to be changed by several goroutines.
func hone0changes(t hone0reflect.Type, depth int) bool {
	switch t.PkgPath() {
	case "sync", "sync/atomic", "context", "net", "os":
		return true
	}
	switch t.Kind() {
	case hone0reflect.Chan:
		return true
	case hone0reflect.Array:
		return hone0changes(t.Elem(), depth+1)
	case hone0reflect.Struct:
		for i := 0; i < t.NumField() && depth < hone0resultDepth; i++ {
			if hone0changes(t.Field(i).Type, depth+1) {
				return true
			}
		}
	}
	return false
}

// hone0texts finds texts that several functions get in the same request.
var hone0texts hone0textTable

type hone0textTable struct {
	mu    hone0sync.Mutex
	first map[uint64]int32 // the function that got a text first in a request, by the hash of both
	depth uint             // zeros at the end of the hashes that are kept
	pairs map[[2]int32]int64
	known map[hone0textPair]bool // that were counted
}

type hone0textPair struct {
	text uint64
	id   int32
}

func (t *hone0textTable) clear() {
	t.mu.Lock()
	t.first, t.pairs, t.known, t.depth = map[uint64]int32{}, map[[2]int32]int64{}, map[hone0textPair]bool{}, 0
	t.mu.Unlock()
}

// add records that a function got a text, by the text's hash with the request.
func (t *hone0textTable) add(id int32, text uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text&(1<<t.depth-1) != 0 {
		return
	}
	first, ok := t.first[text]
	if !ok {
		t.first[text] = id
	}
	if p := (hone0textPair{text, id}); ok && first != id && !t.known[p] {
		t.known[p] = true
		t.pairs[[2]int32{first, id}] += 1 << t.depth
	}
	for len(t.first) > hone0inputKept {
		t.depth++
		for text := range t.first {
			if text&(1<<t.depth-1) != 0 {
				delete(t.first, text)
			}
		}
		for p := range t.known {
			if p.text&(1<<t.depth-1) != 0 {
				delete(t.known, p)
			}
		}
	}
}

// append writes the pairs.
func (t *hone0textTable) append(text []byte) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	for p, n := range t.pairs {
		text = hone0strconv.AppendInt(append(text, "also "...), int64(p[0]), 10)
		text = hone0strconv.AppendInt(append(text, ' '), int64(p[1]), 10)
		text = append(hone0strconv.AppendInt(append(text, ' '), n, 10), '\n')
	}
	return text
}

// hone0longText is the longest text of a call: its hash, and its hash with the request.
type hone0longText struct {
	content, inRequest uint64
}

// hone0textOf hashes a text; ok is false when it is short.
func hone0textOf(text []byte, request uintptr) (t hone0longText, ok bool) {
	if len(text) < hone0inputText {
		return t, false
	}
	h := hone0hasher{}
	h.SetSeed(hone0seed)
	h.Write(text)
	t.content = h.Sum64()
	h.word(uint64(request))
	t.inRequest = h.Sum64()
	return t, true
}

// text counts a long text that the function got. The caller holds mu: a concurrent reader of the
// counts must not see more texts than calls.
func (w *hone0watched) text(t hone0longText, request uintptr) {
	w.texts++
	w.differentTexts.add(t.content)
	if request != 0 {
		w.textsInRequest++
		w.textsPerRequest.add(t.inRequest)
	}
}
