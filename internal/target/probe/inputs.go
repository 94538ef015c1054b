//go:build hone_inputs

package probe

import (
	hone0context "context"
	hone0maphash "hash/maphash"
	hone0io "io"
	hone0reflect "reflect"
	hone0pprof "runtime/pprof"
	hone0strconv "strconv"
	hone0strings "strings"
	hone0sync "sync"
	hone0unsafe "unsafe"
)

// This code runs at the entry of functions of the program, of other modules and of the standard
// library. It calls only packages in which no function is watched (see watchable in package
// target), and keeps hashes, never values. The hash has a random seed, which stays in the process.

//go:linkname hone0profLabel runtime/pprof.runtime_getProfLabel
func hone0profLabel() hone0unsafe.Pointer

//go:linkname hone0nanotime runtime.nanotime
func hone0nanotime() int64

// Limits on what is examined for one call, and on what is kept.
const (
	hone0inputBytes    = 1 << 20 // of strings and slices; a call with more is not hashed
	hone0inputElements = 1 << 12 // of slices that are not of bytes
	hone0inputDepth    = 4       // of nested values
	hone0inputStruct   = 1 << 9  // bytes of a struct that is identified by its address
	hone0inputCalls    = 1 << 18 // of a function; later ones are not examined
	hone0inputOften    = 64      // calls of a function per request, above which it may stop early: see stop
	hone0inputFirst    = 1 << 14 // calls of such a function that are examined
	hone0inputTime     = 20e6    // nanoseconds for examining them, if that comes first
	hone0inputKept     = 1 << 12 // hashes of a set
	hone0inputRequests = 1 << 19 // that are distinguished
	hone0inputText     = 64      // bytes of the shortest string or []byte that is compared between functions
	hone0inputParams   = 16
	hone0inputResults  = 4
	hone0inputParts    = 8   // of an input that may be the key of what a function writes
	hone0inputSites    = 64  // lines that call a function
	hone0inputKey      = 256 // bytes of the longest string that may be one
)

// How a parameter was hashed: completely, partly by its address only, or not at all.
const (
	hone0byValue = iota
	hone0byIdentity
	hone0notHashed
)

// hone0distinct estimates the number of different hashes. It keeps those whose lowest bits are
// zero, and requires one more zero bit when there are too many (adaptive sampling, M. Wegman; P.
// Flajolet, Computing 43, 1990).
type hone0distinct struct {
	seen  map[uint64]bool
	depth uint
}

func (d *hone0distinct) add(h uint64) {
	if h&(1<<d.depth-1) != 0 {
		return
	}
	if d.seen == nil {
		d.seen = map[uint64]bool{}
	}
	d.seen[h] = true
	for len(d.seen) > hone0inputKept {
		d.depth++
		kept := map[uint64]bool{}
		for h := range d.seen {
			if h&(1<<d.depth-1) == 0 {
				kept[h] = true
			}
		}
		d.seen = kept
	}
}

func (d *hone0distinct) count() int64 { return int64(len(d.seen)) << d.depth }

// hone0watched is a function whose inputs are counted.
type hone0watched struct {
	on *bool // in the function's package

	mu         hone0sync.Mutex
	stopped    int64 // if later calls were not examined, the number of requests so far plus one
	spent      int64 // nanoseconds of examining
	calls      int64 // that were examined
	hashed     int64 // of which all parameters except the receiver were
	params     [hone0inputParams]int8
	values     hone0distinct // of the parameters
	all        hone0distinct // including the receiver, and values known only by their address
	inRequest  int64         // hashed calls whose request is known
	perRequest hone0distinct // inputs, each with its request
	targets    hone0distinct // of the requests of these calls: see hone0requests

	// The same with the receiver's address, but not the memory there: its content may change while
	// its answers stay the same.
	stable, stablePerRequest hone0distinct

	texts           int64 // calls with a long text, each the longest of its call
	differentTexts  hone0distinct
	textsInRequest  int64         // of texts whose request is known
	textsPerRequest hone0distinct // texts, each with its request

	results hone0results
	hone0running

	again hone0agains
	sites map[hone0site]*hone0agains // of calls with a last parameter ...interface{}
	// gaveAt are the addresses of the last results: see feeds.
	gaveAt   [hone0gaveKept]uintptr
	gaveNext int

	args [hone0inputParams]hone0values
	outs [hone0inputResults]hone0values
}

var (
	hone0watching []*hone0watched
	hone0seed     = hone0maphash.MakeSeed()
)

// hone0requests distinguishes requests, and iterations of loops that take work. Each is marked by a
// profiler label of its goroutine, which goroutines that it starts inherit. The labels are kept, so
// that no label has the address of an earlier one.
var hone0requests struct {
	hone0sync.Mutex
	known   map[hone0unsafe.Pointer]hone0unit           // by label
	asked   map[hone0unsafe.Pointer]uint64              // hashes of method and address, by label
	held    map[hone0unsafe.Pointer]hone0unsafe.Pointer // headers, by label
	labels  []hone0context.Context
	turns   int           // number of labels of iterations
	targets hone0distinct // of requests that method and address describe completely: see hone0target
}

// hone0unit is a request or an iteration.
type hone0unit struct {
	at   uint64 // distinguishes a request from the previous one on this goroutine
	loop int32  // for an iteration: the number of the function with the loop, plus one; 0 for a request
}

// hone0collectInputs clears all counts.
func hone0collectInputs() {
	if len(hone0watching) == 0 {
		hone0watchInputs()
	}
	r := &hone0requests
	r.Lock()
	r.known, r.labels, r.turns, r.targets = map[hone0unsafe.Pointer]hone0unit{}, nil, 0, hone0distinct{}
	r.held, r.asked = map[hone0unsafe.Pointer]hone0unsafe.Pointer{}, map[hone0unsafe.Pointer]uint64{}
	r.Unlock()
	hone0texts.clear()
	for _, w := range hone0watching {
		w.mu.Lock()
		w.stopped, w.spent, w.calls, w.hashed, w.inRequest = 0, 0, 0, 0, 0
		w.params = [hone0inputParams]int8{}
		w.values, w.all, w.perRequest, w.targets = hone0distinct{}, hone0distinct{}, hone0distinct{}, hone0distinct{}
		w.texts, w.differentTexts, w.textsInRequest, w.textsPerRequest = 0, hone0distinct{}, 0, hone0distinct{}
		w.stable, w.stablePerRequest, w.results = hone0distinct{}, hone0distinct{}, hone0results{}
		w.hone0running = hone0running{}
		w.again, w.sites = hone0agains{}, nil
		w.args, w.outs = [hone0inputParams]hone0values{}, [hone0inputResults]hone0values{}
		w.gaveAt = [hone0gaveKept]uintptr{}
		*w.on = true
		w.mu.Unlock()
	}
}

// hone0input is called at the entry of each watched function, and with -1 minus its number at the
// start of each iteration of a loop in it that takes work. It returns a function to be called with
// the addresses of the results when the function returns; nil if that is not needed.
func hone0input(id int32, receiver interface{}, args ...interface{}) func(...interface{}) {
	if id < 0 {
		hone0mark(hone0unit{loop: -id}, nil, "", "")
		return nil
	}
	if int(id) >= len(hone0watching) {
		return nil
	}
	w := hone0watching[id]
	start := hone0nanotime()
	var kinds [hone0inputParams]int8
	h := hone0hasher{}
	h.SetSeed(hone0seed)
	whole := true
	for i, a := range args {
		h.kind = hone0byValue
		v := hone0reflect.ValueOf(a)
		h.value(v, 0)
		hone0markRequest(v)
		if i < hone0inputParams {
			kinds[i] = h.kind
		}
		whole = whole && h.kind != hone0notHashed
	}
	values := h.Sum64()
	arguments := len(h.pointers)
	for _, p := range h.pointers {
		h.pointer(p)
	}
	given := h.Sum64()
	h.address(hone0reflect.ValueOf(receiver))
	for _, p := range h.pointers[arguments:] {
		h.word(uint64(p.Pointer()))
	}
	stable := h.Sum64()
	for _, p := range h.pointers[arguments:] {
		h.pointer(p)
	}
	all := h.Sum64()
	keys, open := hone0keys(args)
	var site hone0site
	if open {
		site = hone0caller()
	}
	request, target := hone0currentRequest()
	text, long := hone0textOf(h.text, request)
	if long && request != 0 {
		hone0texts.add(id, text.inRequest)
	}

	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	if long {
		w.text(text, request)
	}
	w.given(receiver, request, args)
	w.spent += hone0nanotime() - start
	w.stop()
	for i, k := range kinds {
		if k > w.params[i] {
			w.params[i] = k
		}
	}
	if !whole {
		return nil
	}
	w.hashed++
	w.again.add(keys, given)
	if at := w.at(site); at != nil {
		at.add(keys, given)
	}
	w.values.add(values)
	w.all.add(all)
	if request != 0 {
		w.inRequest++
		w.perRequest.add(h.with(all, request))
		w.stablePerRequest.add(h.with(stable, request))
	}
	if target != 0 {
		w.targets.add(target)
	}
	w.stable.add(stable)
	if !w.results.wants(stable) {
		return nil
	}
	w.enter(stable)
	longest := uint64(0)
	if len(h.text) > 0 {
		longest = hone0sum(h.text)
	}
	return func(results ...interface{}) { w.returned(stable, longest, results) }
}

// stop ends the examination of a function's calls when enough of them are known. That is early for
// a function that is called very often in each request: examining all its calls would leave time
// for few requests, and so for few calls of the functions that are called once in a request and
// cost as much. The caller holds w.mu.
func (w *hone0watched) stop() {
	if w.calls < hone0inputCalls && (w.calls%64 != 0 || w.calls < hone0inputFirst && w.spent < hone0inputTime) {
		return
	}
	r := &hone0requests
	r.Lock()
	n := int64(len(r.labels))
	r.Unlock()
	if w.calls >= hone0inputCalls || n > 0 && w.calls > hone0inputOften*n {
		w.stopped, *w.on = n+1, false
	}
}

// hone0hasher hashes the parameters of a call.
type hone0hasher struct {
	hone0maphash.Hash
	kind     int8 // how the parameter has been hashed so far
	bytes    int
	pointers []hone0reflect.Value // what is identified by its address
	text     []byte               // the longest string or []byte among the parameters
}

func (h *hone0hasher) word(n uint64) {
	var b [8]byte
	for i := range b {
		b[i] = byte(n >> (8 * uint(i)))
	}
	h.Write(b[:])
}

// with returns the hash of a hash and the request in which it was seen.
func (h *hone0hasher) with(sum uint64, request uintptr) uint64 {
	h.Reset()
	h.word(sum)
	h.word(uint64(request))
	return h.Sum64()
}

func (h *hone0hasher) worse(kind int8) {
	if kind > h.kind {
		h.kind = kind
	}
}

// room reports whether n more bytes may be hashed.
func (h *hone0hasher) room(n int) bool {
	if h.bytes += n; h.bytes > hone0inputBytes {
		h.worse(hone0notHashed)
		return false
	}
	return true
}

// address hashes a value by the address that it points to.
func (h *hone0hasher) address(v hone0reflect.Value) {
	switch v.Kind() {
	case hone0reflect.Ptr, hone0reflect.Map, hone0reflect.Chan, hone0reflect.Func, hone0reflect.UnsafePointer:
		if v.Kind() == hone0reflect.Ptr && v.Type().Elem().PkgPath() == "context" {
			return // a context differs in each request and does not determine the result
		}
		if rest, ok := hone0rest(v); ok {
			h.content(rest)
			return
		}
		h.pointers = append(h.pointers, v)
		h.worse(hone0byIdentity)
	case hone0reflect.Invalid:
	default:
		h.value(v, 0)
	}
}

// pointer hashes a pointer by the address and, for a struct, by its memory: short-lived values are
// often allocated at the same address one after the other. What the struct's own pointers point to
// is not read, and neither is a mutex: whether it is locked says nothing about the value.
func (h *hone0hasher) pointer(v hone0reflect.Value) {
	h.word(uint64(v.Pointer()))
	if v.Kind() != hone0reflect.Ptr || v.IsNil() {
		return
	}
	at := v.UnsafePointer()
	n := v.Type().Elem().Size()
	if n > hone0inputStruct {
		n = hone0inputStruct
	}
	from := uintptr(0)
	if to := v.Elem(); to.Kind() == hone0reflect.Struct {
		for i := 0; i < to.NumField(); i++ {
			f := to.Field(i)
			if f.UnsafeAddr()-uintptr(at) >= n {
				break
			}
			if t := f.Type(); t.PkgPath() == "sync" && (t.Name() == "Mutex" || t.Name() == "RWMutex") {
				until := f.UnsafeAddr() - uintptr(at)
				h.memory(at, from, until)
				from = until + t.Size()
			}
		}
	}
	h.memory(at, from, n)
}

// memory hashes the bytes of an object from one offset until another.
func (h *hone0hasher) memory(at hone0unsafe.Pointer, from, until uintptr) {
	for i := from; i < until; i++ {
		h.WriteByte(*(*byte)(hone0unsafe.Pointer(uintptr(at) + i)))
	}
}

// value hashes a value by its content, if that is bounded. Maps are hashed by their address:
// reading one while another goroutine writes to it crashes the program.
func (h *hone0hasher) value(v hone0reflect.Value, depth int) {
	if depth > hone0inputDepth {
		h.worse(hone0notHashed)
		return
	}
	h.word(uint64(v.Kind()))
	switch v.Kind() {
	case hone0reflect.Invalid:
	case hone0reflect.Bool:
		if v.Bool() {
			h.word(1)
		}
	case hone0reflect.Int, hone0reflect.Int8, hone0reflect.Int16, hone0reflect.Int32, hone0reflect.Int64:
		h.word(uint64(v.Int()))
	case hone0reflect.Uint, hone0reflect.Uint8, hone0reflect.Uint16, hone0reflect.Uint32, hone0reflect.Uint64, hone0reflect.Uintptr:
		h.word(v.Uint())
	case hone0reflect.Float32, hone0reflect.Float64:
		h.float(v.Float())
	case hone0reflect.Complex64, hone0reflect.Complex128:
		c := v.Complex()
		parts := (*[2]float64)(hone0unsafe.Pointer(&c))
		h.float(parts[0])
		h.float(parts[1])
	case hone0reflect.String:
		h.content(hone0bytes(v.String()))
	case hone0reflect.Slice, hone0reflect.Array:
		h.elements(v, depth)
	case hone0reflect.Struct:
		for i := 0; i < v.NumField(); i++ {
			h.value(v.Field(i), depth+1)
		}
	case hone0reflect.Interface:
		if !v.IsNil() {
			h.value(v.Elem(), depth+1)
		}
	default:
		h.address(v)
	}
}

// content hashes a string or a []byte.
func (h *hone0hasher) content(b []byte) {
	h.word(uint64(len(b)))
	if !h.room(len(b)) {
		return
	}
	h.Write(b)
	if len(b) > len(h.text) {
		h.text = b
	}
}

// hone0rest returns the unread text of a reader that keeps its text in memory: that is its input,
// not its address.
func hone0rest(v hone0reflect.Value) ([]byte, bool) {
	if v.Kind() != hone0reflect.Ptr || v.IsNil() {
		return nil, false
	}
	t := v.Type().Elem()
	switch {
	case t.PkgPath() == "strings" && t.Name() == "Reader":
		s, i := v.Elem().FieldByName("s"), v.Elem().FieldByName("i")
		if s.Kind() == hone0reflect.String && i.Kind() == hone0reflect.Int64 && i.Int() >= 0 && i.Int() <= int64(s.Len()) {
			return hone0bytes(s.String()[i.Int():]), true
		}
	case t.PkgPath() == "bytes" && (t.Name() == "Reader" || t.Name() == "Buffer"):
		s, i := v.Elem().FieldByName("s"), v.Elem().FieldByName("i")
		if t.Name() == "Buffer" {
			s, i = v.Elem().FieldByName("buf"), v.Elem().FieldByName("off")
		}
		if s.Kind() == hone0reflect.Slice && i.Kind() != hone0reflect.Invalid && i.Int() >= 0 && i.Int() <= int64(s.Len()) {
			return s.Bytes()[i.Int():], true
		}
	}
	return nil, false
}

// hone0bytes returns the bytes of a string, which must not be written to.
func hone0bytes(s string) []byte {
	header := struct {
		string
		cap int
	}{s, len(s)}
	return *(*[]byte)(hone0unsafe.Pointer(&header))
}

func (h *hone0hasher) float(f float64) { h.word(*(*uint64)(hone0unsafe.Pointer(&f))) }

func (h *hone0hasher) elements(v hone0reflect.Value, depth int) {
	if v.Kind() == hone0reflect.Slice && v.Type().Elem().Kind() == hone0reflect.Uint8 {
		h.content(v.Bytes())
		return
	}
	n := v.Len()
	h.word(uint64(n))
	if n > hone0inputElements {
		h.worse(hone0notHashed)
		return
	}
	for i := 0; i < n && h.kind != hone0notHashed; i++ {
		h.value(v.Index(i), depth+1)
	}
}

// hone0markRequest marks the goroutine as working for a request, if the value is one. Requests of
// net/http are identified by their header, which copies (WithContext) share; those of fasthttp by
// their connection and their number on it, because contexts are reused; those of gRPC by their
// stream.
func hone0markRequest(v hone0reflect.Value) {
	if v.Kind() != hone0reflect.Ptr || v.IsNil() || v.Type().Elem().Kind() != hone0reflect.Struct {
		return
	}
	t := v.Type().Elem()
	v = v.Elem()
	switch {
	case t.Name() == "Request" && t.PkgPath() == "net/http":
		header, target, method := v.FieldByName("Header"), v.FieldByName("RequestURI"), v.FieldByName("Method")
		if header.Kind() != hone0reflect.Map || target.Kind() != hone0reflect.String || target.Len() == 0 || method.Kind() != hone0reflect.String {
			return // a request that the program sends has no RequestURI
		}
		hone0mark(hone0unit{at: uint64(header.Pointer())}, header.UnsafePointer(), method.String(), target.String())
	case t.Name() == "RequestCtx" && hone0ends(t.PkgPath(), "github.com/valyala/fasthttp"):
		connection, number := v.FieldByName("connID"), v.FieldByName("connRequestNum")
		if connection.Kind() == hone0reflect.Uint64 && number.Kind() == hone0reflect.Uint64 {
			hone0mark(hone0unit{at: connection.Uint()<<32 + number.Uint() + 1}, nil, "", "")
		}
	case (t.Name() == "ServerStream" || t.Name() == "Stream") && hone0ends(t.PkgPath(), "google.golang.org/grpc/internal/transport"):
		if id := v.FieldByName("id"); id.Kind() == hone0reflect.Uint32 {
			hone0mark(hone0unit{at: uint64(v.UnsafeAddr())<<16 ^ id.Uint()}, nil, "", "")
		}
	}
}

// hone0ends reports whether an import path is the given one, vendored or not.
func hone0ends(path, want string) bool {
	return path == want || hone0strings.HasSuffix(path, "/vendor/"+want)
}

// hone0mark marks the goroutine as working for a unit, unless it does already. A goroutine that is
// marked with a request keeps that mark in loops. Method and target are hashed if they describe the
// request completely; a body may add to them. What identifies the request by its address is held
// until the next one: the collector would give the address to that.
func hone0mark(u hone0unit, held hone0unsafe.Pointer, method, target string) {
	r := &hone0requests
	r.Lock()
	defer r.Unlock()
	label := hone0profLabel()
	known, ok := r.known[label]
	if len(r.labels) >= hone0inputRequests || ok && u.loop == 0 && known == u || ok && u.loop != 0 && known.loop != u.loop {
		return
	}
	ctx := hone0pprof.WithLabels(hone0context.Background(), hone0pprof.Labels("hone", hone0strconv.Itoa(len(r.labels))))
	hone0pprof.SetGoroutineLabels(ctx)
	r.labels = append(r.labels, ctx)
	delete(r.held, label)
	label = hone0profLabel()
	r.known[label] = u
	if held != nil {
		r.held[label] = held
	}
	if u.loop != 0 {
		r.turns++
	}
	if target == "" {
		return
	}
	h := hone0hasher{}
	h.SetSeed(hone0seed)
	h.WriteString(method)
	h.WriteString(target)
	r.asked[label] = h.Sum64()
	r.targets.add(r.asked[label])
}

// hone0currentRequest identifies the request that the goroutine works for, and what it asks for, by
// a hash; 0 if that is unknown.
func hone0currentRequest() (request uintptr, target uint64) {
	label := hone0profLabel()
	if label == nil {
		return 0, 0
	}
	r := &hone0requests
	r.Lock()
	defer r.Unlock()
	if _, ok := r.known[label]; !ok {
		return 0, 0
	}
	return uintptr(label), r.asked[label]
}

// hone0inputsCommand writes the counts, or clears them. The first line has the number of requests,
// of different ones, and of iterations of loops that take work. Each further line is a function:
// its number, calls, hashed calls, different inputs, different inputs with receiver and addresses,
// calls in requests or iterations, different inputs in each of these, summed up; different inputs
// with the receiver's address alone, and the same in requests; calls with a long text, different
// texts, and both in requests or iterations; calls whose result is compared with that of an earlier
// call with the same input, and how many of these returned the same; calls that started while
// another with the same input ran; the number of requests and iterations after which calls were no
// longer examined plus one, 0 if all were; different requests that led to calls; how each parameter
// was hashed; and, for all calls and for each part of the input (see hone0keys), calls after one
// with the same key, and how many of these had the same input as the last one with that key. Lines
// "site F LINE … FILE" have the same for the calls from one line. Lines "given F I …" and "returned
// F I …" sum up the values of a parameter and of a result: how many, how many are empty, their
// length, how many are texts, how many of these are ASCII, how many are equal to the longest of the
// parameters; and, of texts that begin with the last one about the same object, how many there are,
// their bytes, and the bytes after that beginning. Lines "also F G N" follow: in N requests,
// function G got a text that function F had got before.
func hone0inputsCommand(out hone0io.Writer, what string) (missing string, err error) {
	if what == "clear" {
		hone0collectInputs()
		return "", nil
	}
	r := &hone0requests
	r.Lock()
	text := []byte("requests " + hone0strconv.Itoa(len(r.labels)-r.turns) + " " + hone0strconv.FormatInt(r.targets.count(), 10) + " " + hone0strconv.Itoa(r.turns) + "\n")
	r.Unlock()
	for id, w := range hone0watching {
		w.mu.Lock()
		text = hone0strconv.AppendInt(text, int64(id), 10)
		for _, n := range []int64{w.calls, w.hashed, w.values.count(), w.all.count(), w.inRequest, w.perRequest.count(),
			w.stable.count(), w.stablePerRequest.count(),
			w.texts, w.differentTexts.count(), w.textsInRequest, w.textsPerRequest.count(), w.results.compared, w.results.same,
			w.overlapping, w.stopped, w.targets.count()} {
			text = hone0strconv.AppendInt(append(text, ' '), n, 10)
		}
		for _, k := range w.params {
			text = hone0strconv.AppendInt(append(text, ' '), int64(k), 10)
		}
		text = append(w.again.append(text), '\n')
		for site, again := range w.sites {
			text = append(text, "site "+hone0strconv.Itoa(id)+" "+hone0strconv.Itoa(site.line)...)
			text = append(again.append(text), " "+site.file+"\n"...)
		}
		for i := range w.args {
			text = w.args[i].append(text, "given", id, i)
		}
		for i := range w.outs {
			text = w.outs[i].append(text, "returned", id, i)
		}
		w.mu.Unlock()
	}
	text = hone0texts.append(text)
	_, err = out.Write(text)
	return "", err
}
