package loops_test

import (
	"go/ast"
	"go/types"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/diagnose/syntax"
)

const bounds = `package main

func use(...any) {}

type box struct{ n int }

func main() {
	var xs []int
	var m map[string]int
	var b box
	n, k := 3, 4
	for range xs {
		use(n) //@ slice
	}
	for range m {
		use(b.n) //@ map
	}
	for i := range n {
		use(i) //@ number
	}
	for range func(yield func(int) bool) {} {
		use(1) //@ function
	}
	for range make(chan int) {
		use(len(xs)) //@ channel
	}
	for i := 0; i < n; i++ {
		use(xs[0]) //@ counted
	}
	for i := 2; i <= n; i++ {
		use(n) //@ counted from two
	}
	for i := 0; i < n; i++ {
		n--
		use(n) //@ moving end
	}
	for i := 0; i < n; i++ {
		i++
		use(n) //@ changed inside
	}
	for k > 0 {
		k--
		use(k) //@ condition
	}
	for range xs {
		b.n++
		use(b.n) //@ field changed
	}
	for range xs {
		if n > 2 {
			use(n) //@ under if
		}
	}
	for range xs {
		if n > 2 {
			continue
		}
		use(n) //@ after continue
	}
	for range xs {
		use(n) //@ before break
		if n > 2 {
			break
		}
	}
	for range xs {
		if n > 2 {
			return
		}
		use(n) //@ after return
	}
	for range xs {
		p := &n
		use(n, p) //@ address taken
	}
	var whole [4]int
	for range xs {
		copy(whole[1:], xs)
		use(whole) //@ array sliced
	}
	list := xs
	for range xs {
		use(len(list), list[1:]) //@ slice sliced
	}
	for range 2 + drawn() {
		use(list) //@ drawn
	}
	for range int64(len(xs)) {
		use(list) //@ converted
	}
}

func drawn() int { return 3 }
`

func TestIterations(t *testing.T) {
	places := ruletest.Places(t, bounds)
	for name, want := range map[string]struct {
		iterations string
		invariant  bool // the first argument of use
		every      bool
	}{
		"slice":            {"len(xs)", true, true},
		"map":              {"len(m)", true, true},
		"number":           {"n", false, true},
		"function":         {"", true, true},
		"channel":          {"", true, true},
		"counted":          {"n", false, true}, // other goroutines may change an element
		"counted from two": {"n - 2 + 1", true, true},
		"moving end":       {"", false, true},
		"changed inside":   {"", true, true},
		"condition":        {"", false, true},
		"field changed":    {"len(xs)", false, true},
		"under if":         {"len(xs)", true, false},
		"after continue":   {"len(xs)", true, false},
		"before break":     {"len(xs)", true, false},
		"after return":     {"len(xs)", true, true},
		"address taken":    {"len(xs)", false, true},
		"array sliced":     {"len(xs)", false, true},
		"slice sliced":     {"len(xs)", true, true},
		"drawn":            {"2 + drawn()", true, true},
		"converted":        {"int64(len(xs))", true, true},
	} {
		p := places[name]
		if p == nil {
			t.Errorf("%s: no such line", name)
			continue
		}
		call := syntax.CallsOf(p, "example.com/places.use")[0]
		loop := loops.Around(p, call)[0]
		if got, _ := loops.Iterations(p, loop); got != want.iterations {
			t.Errorf("%s: iterations %q, want %q", name, got, want.iterations)
		}
		if got, want := loops.Evaluates(p, loop), name == "drawn"; got != want {
			t.Errorf("%s: evaluates a call: %t, want %t", name, got, want)
		}
		if got := loops.Invariant(p, loop, call.Args[0]); got != want.invariant {
			t.Errorf("%s: invariant %t, want %t", name, got, want.invariant)
		}
		if got := loops.EveryIteration(p, loop, call); got != want.every {
			t.Errorf("%s: every iteration %t, want %t", name, got, want.every)
		}
	}
}

const percall = `package main

import "sync"

const c = 1

var (
	fixed  = "x"
	set    = "y"
	Open   = "z"
	once   sync.Once
	shared *int
	pool   = sync.Pool{New: func() any {
		return use(c) //@ pool
	}}
	table = use(fixed) //@ variable
)

func use(any) *int { return nil }

func init() {
	use(set) //@ init
	set = "other"
}

func get(m map[string]*int) *int {
	if shared == nil {
		shared = use(1 + c) //@ guarded
	}
	once.Do(func() {
		use(Open) //@ once
	})
	p, ok := m["a"]
	if !ok {
		p = use(fixed + "!") //@ cache
	}
	return p
}

func handler(arg int) func() {
	use(arg) //@ function
	return func() {
		use(string(fixed)) //@ literal
	}
}

func main() {
	use("m") //@ main
	for range 10 {
		use(get(nil)) //@ main loop
	}
	handler(1)
}
`

func TestPerCall(t *testing.T) {
	places := ruletest.Places(t, percall)
	for name, want := range map[string]struct{ percall, fixed bool }{
		"pool":      {false, true},
		"variable":  {false, true},
		"init":      {false, false},
		"guarded":   {false, true},
		"once":      {false, false},
		"cache":     {false, true},
		"function":  {true, false},
		"literal":   {true, true},
		"main":      {false, true},
		"main loop": {true, false},
	} {
		p := places[name]
		if p == nil {
			t.Errorf("%s: no such line", name)
			continue
		}
		call := syntax.CallsOf(p, "example.com/places.use")[0]
		if got := loops.PerCall(p, call); got != want.percall {
			t.Errorf("%s: per call %t, want %t", name, got, want.percall)
		}
		if got := syntax.Fixed(p, call.Args[0]); got != want.fixed {
			t.Errorf("%s: fixed %t, want %t", name, got, want.fixed)
		}
	}
}

const makers = `package main

type (
	point struct{ x, y int }
	none  struct{}
)

func use(...any)      {}
func one(any)         {}
func typed(int, *int) {}

func main() {
	s, b, n := "s", []byte("b"), 1
	one(n)                   //@ number
	one(&n)                  //@ pointer
	one(1)                   //@ constant
	one(none{})              //@ empty
	one(n > 1)               //@ boolean
	one(any(nil))            //@ interface
	one(point{n, n})         //@ struct
	typed(n, &n)             //@ typed
	use(s, n, "c")           //@ variadic
	_ = s + "x"              //@ concatenation
	_ = "a" + "b"            //@ constant sum
	_ = string(b)            //@ conversion
	_ = &point{}             //@ address
	_ = point{}              //@ value
	_ = []int{1}             //@ slice
	_ = map[int]int{}        //@ map
	_ = append(b, 'c')       //@ append
	_ = func() int { return n } //@ literal
	go main()                //@ go
	_ = len(s)               //@ len
}
`

func TestMakers(t *testing.T) {
	places := ruletest.Places(t, makers)
	for name, want := range map[string]struct{ makers, boxed int }{
		"number": {1, 1}, "pointer": {0, 0}, "constant": {0, 0}, "empty": {0, 0}, "boolean": {0, 0},
		"interface": {0, 0}, "struct": {1, 1}, "typed": {0, 0}, "variadic": {1, 2},
		"concatenation": {1, 0}, "constant sum": {0, 0}, "conversion": {1, 0}, "address": {1, 0},
		"value": {0, 0}, "slice": {1, 0}, "map": {1, 0}, "append": {1, 0}, "literal": {1, 0}, "go": {1, 0}, "len": {0, 0},
	} {
		p := places[name]
		if p == nil {
			t.Errorf("%s: no such line", name)
			continue
		}
		found := syntax.Allocating(p)
		if len(found) != want.makers {
			t.Errorf("%s: %d makers, want %d", name, len(found), want.makers)
		}
		boxed := 0
		for _, call := range syntax.Calls(p) {
			boxed += len(syntax.Boxed(p, call))
		}
		if boxed != want.boxed {
			t.Errorf("%s: %d boxed, want %d", name, boxed, want.boxed)
		}
		if syntax.AllocatesOnly(p) != (want.makers == 0) || !syntax.AllocatesOnly(p, found...) {
			t.Errorf("%s: OnlyMakes disagrees", name)
		}
	}
}

const buffers = `package main

import (
	"bytes"
	"encoding/binary"
	"io"
)

var kept []byte

type keeper interface{ Keep([]byte) }

func lent(r io.Reader) byte {
	b := make([]byte, 8) //@ lent
	r.Read(b[:4])
	return b[0]
}

func helper(w io.Writer, n uint64) {
	var b [8]byte //@ helper
	binary.LittleEndian.PutUint64(b[:], n)
	c := b[2:]
	w.Write(c)
}

func returned() []byte {
	b := make([]byte, 8) //@ returned
	return b[2:]
}

func stored() {
	b := make([]byte, 8) //@ stored
	kept = b
}

func given(k keeper) {
	b := make([]byte, 8) //@ given
	k.Keep(b)
}

func viewed() []byte {
	b := make([]byte, 8) //@ viewed
	c := bytes.TrimSpace(b)
	return c
}

func searched() int {
	b := make([]byte, 8) //@ searched
	for i := range b {
		b[i] = 'x'
	}
	return bytes.IndexByte(b, 'x') + len(b) + len(string(b))
}

func captured() func() byte {
	b := make([]byte, 8) //@ sent
	c := make(chan []byte, 1)
	c <- b
	return nil
}

func main() {}
`

func TestBufferUse(t *testing.T) {
	places := ruletest.Places(t, buffers)
	for name, want := range map[string]struct{ contained, through bool }{
		"lent": {true, true}, "helper": {true, true}, "returned": {false, false}, "stored": {false, false},
		"given": {false, true}, "viewed": {false, false}, "searched": {true, false}, "sent": {false, false},
	} {
		p := places[name]
		if p == nil {
			t.Errorf("%s: no such line", name)
			continue
		}
		found := syntax.Buffers(p)
		if len(found) != 1 {
			t.Errorf("%s: %d buffers", name, len(found))
		}
		for v, made := range found {
			checkUse(t, name, v, made, flow.BufferUse((&rule.Pass{}), p, v), want.contained, want.through)
		}
	}
}

func checkUse(t *testing.T, name string, v *types.Var, made ast.Node, u flow.Use, contained, through bool) {
	t.Helper()
	if v.Name() != "b" || made == nil {
		t.Errorf("%s: found %s", name, v.Name())
	}
	if u.Contained != contained || (u.Interface != nil) != through {
		t.Errorf("%s: contained %t, through an interface %t, want %t, %t", name, u.Contained, u.Interface != nil, contained, through)
	}
}
