package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	ctorpercall "github.com/hone-go/hone/internal/diagnose/rules/ctor-per-call"
	mapasarray "github.com/hone-go/hone/internal/diagnose/rules/map-as-array"
	powofconstant "github.com/hone-go/hone/internal/diagnose/rules/pow-of-constant"
	quadraticinsert "github.com/hone-go/hone/internal/diagnose/rules/quadratic-insert"
	regexpofwords "github.com/hone-go/hone/internal/diagnose/rules/regexp-of-words"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	stringbytescopy "github.com/hone-go/hone/internal/diagnose/rules/string-bytes-copy"
	zeroedbuffer "github.com/hone-go/hone/internal/diagnose/rules/zeroed-buffer"
)

// A shape is a function F, and what a rule says about its line that ends in "@": a part of the
// cause or the fix, "" for nothing. "@ < NAME" puts the line that carries "//: NAME" above it; the
// rule may report that line instead. "_N" in names becomes the number of the shape.
type shape struct{ code, says string }

// checkShapes runs a rule on the functions after a head, with samples of a stack on the marked
// lines, and with objects of a size if it is not 0.
func checkShapes(t *testing.T, r rule.Rule, head, stack string, size int64, shapes []shape) {
	t.Helper()
	checkShapesIn(t, r, head, stack, size, shapes, func(*rule.Pass) {})
}

// checkShapesIn is checkShapes for a recording that a function completes.
func checkShapesIn(t *testing.T, r rule.Rule, head, stack string, size int64, shapes []shape, complete func(*rule.Pass)) {
	t.Helper()
	src := "package main\n\n" + head + "\n\nfunc main() {}\n\n"
	for i, s := range shapes {
		shapes[i].code = strings.ReplaceAll(s.code, "_N", fmt.Sprint(i))
		code := strings.Replace(shapes[i].code, "F", fmt.Sprint("f", i), 1)
		src += strings.Replace(code, "@", fmt.Sprintf("//@ %d | %s", i, stack), 1) + "\n\n"
	}
	p, names := ruletest.MadeUp(t, src)
	p.Table.Totals.TotalSeconds = float64(len(shapes))
	for _, s := range p.Table.Sites {
		if size == 0 {
			s.Allocs = nil
		}
		for _, row := range s.Allocs {
			row.Value = row.Count * size
		}
	}
	complete(p)
	said := map[string]string{}
	for _, m := range matchesOf(t, r, p) {
		said[names[m.Site.Line]] = m.Cause + " " + m.Fix
	}
	for i, s := range shapes {
		text, ok := said[fmt.Sprint(i)]
		if _, above, called := strings.Cut(s.code, "//: "); called && !ok {
			name, _, _ := strings.Cut(above, "\n")
			text, ok = said[name]
		}
		if ok != (s.says != "") || !strings.Contains(text, s.says) {
			t.Errorf("%s\n\tsays %q, want %q", s.code, text, s.says)
		}
	}
}

// TestPowOfConstantShapes: the exponent or the base decides what computes a power with less work.
func TestPowOfConstantShapes(t *testing.T) {
	checkShapes(t, powofconstant.Rule(), "import \"math\"", "math.pow math.Pow", 0, []shape{
		{"func F(x float64) float64 { return math.Pow(x, 2) } @", "Write x*x."},
		{"func F(x float64) float64 { return math.Pow(x+1, 3) } @", "x := x + 1, and x*x*x"},
		{"func F(x float64) float64 { return math.Pow(x, 4) } @", "x2 := x*x, and x2*x2"},
		{"func F(x float64) float64 { return math.Pow(x, .5) } @", "math.Sqrt(x)"},
		{"func F(x float64) float64 { return math.Pow(x, -.5) } @", "1 / math.Sqrt(x)"},
		{"func F(x float64) float64 { return math.Pow(x, -1) } @", "1 / (x)"},
		{"func F(x float64) float64 { return math.Pow(x, -3) } @", "1 / (x*x…) with x := x"},
		{"func F(x float64) float64 { return math.Pow(2, x) } @", "uint64(1) << x"},
		{"func F(x float64) float64 { return math.Pow(10, x) } @", "math.Pow10(x)"},
		{"func F(x float64) float64 { return math.Pow(x, 7) } @", ""},
		{"func F(x, y float64) float64 { return math.Pow(x, y) } @", ""},
	})
}

// TestMapAsArrayShapes: keys that could index an array.
func TestMapAsArrayShapes(t *testing.T) {
	const head = `type color int

const (
	red color = iota
	green
	blue
)

type size int

const (
	small size = 1
	huge  size = 1 << 20
	any   size = 7
)

type point struct{ x, y int }

type pair struct{ from, to int }

type mixed struct {
	x int
	y int8
}`
	checkShapes(t, mapasarray.Rule(), head, "runtime.mapaccess1_fast64", 0, []shape{
		{"func F(m map[byte]int, b byte) int { return m[b] } @", "array with 256 elements"},
		{"func F(m map[color]int, c color) int { return m[c] } @", "3 elements, indexed by the constants of color"},
		{"func F(m map[size]int, s size) int { return m[s] } @", ""},
		{"func F(m map[int]int, b byte) int { return m[int(b)] } @", "array with 256 elements"},
		{"func F(m map[int]int, b int16) int { return m[int(b)] } @", ""},
		{"func F(m map[rune]int, r rune) int { return m[r] } @", "128 elements for the letters"},
		{"func F(m map[int32]int, s string) (n int) {\n\tfor _, r := range s {\n\t\tn += m[r] @\n\t}\n\treturn n\n}", "128 elements for the letters"},
		{"func F(m map[int]int, xs []string) (n int) {\n\tfor i := range xs {\n\t\tn += m[i] @\n\t}\n\treturn n\n}", "Use a slice, indexed by the same number"},
		{"func F(m map[int]int) (n int) {\n\tfor i := range 100 {\n\t\tn += m[i] @\n\t}\n\treturn n\n}", "Use a slice, indexed by the same number"},
		{"func F(m, o map[int]int) (n int) {\n\tfor i := range o {\n\t\tn += m[i] @\n\t}\n\treturn n\n}", ""},
		{"func F(m map[int]int, n int) int { return m[n] } @", ""},
		{"func F(m map[string]int, s string) int { return m[s] } @", ""},
		{"func F(m map[point]int, p point) int { return m[p] } @", "y*width+x"},
		{"func F(m map[pair]int, p pair) int { return m[p] } @", ""},
		{"func F(m map[pair]int, p pair) int {\n\tnext := pair{from: p.from + 1, to: p.to}\n\treturn m[next] @\n}", "y*width+x"},
		{"func F(m map[mixed]int, p mixed) int { return m[p] } @", ""},
		{"func F(m map[[2]int]int, p [2]int) int { return m[p] } @", ""},
		{"func F(m map[[2]int]int, p [2]int) int {\n\tnext := [2]int{p[0] + 1, p[1]}\n\treturn m[next] @\n}", "y*width+x"},
		{"func F(m map[[9]int]int, p [9]int) int { return m[p] } @", ""},
		{"func F(m map[[2]byte]int, p [2]byte) int { return m[p] } @", ""},
		{"func F(xs []int, n int) int { return xs[n] } @", ""},
		{"var next_N = map[[2]int]int{{0, 1}: 1, {1, 1}: 2, {2, 0}: 3}\n\nfunc F(state, class int) int { return next_N[[2]int{state, class}] } @", "nested array, indexed by the parts of the key (6 elements"},
		{"var next_N = map[pair]int{{0, 1}: 1, {1, 1}: 2, {2, 0}: 3}\n\nfunc F(p pair) int { return next_N[p] } @", "nested array"},
		{"var width_N = map[int]int{1: 4, 2: 8, 200: 3}\n\nfunc F(op int) int { return width_N[op] } @", "an array with 201 elements"},
		{"var width_N = map[uint16]string{1: \"a\", 2: \"b\", 9: \"c\"}\n\nfunc F(op uint16) (string, int) {\n\ts := width_N[op] @\n\treturn s, len(width_N)\n}", "an array with 10 elements"},
		{"var width_N = map[int]int{1: 4, 2: 8, 200000: 3}\n\nfunc F(op int) int { return width_N[op] } @", ""},
		{"var width_N = map[int]int{1: 4, 2: 8, -1: 3}\n\nfunc F(op int) int { return width_N[op] } @", ""},
		{"var width_N = map[int]int{1: 4, 2: 8, 3: 3}\n\nfunc F(op int) int { return width_N[op] } @\n\nfunc set_N(op int) { width_N[op] = 1 }", ""},
		{"var width_N = map[int]int{1: 4, 2: 8, 3: 3}\n\nfunc F(op int) int { return width_N[op] } @\n\nfunc drop_N(op int) { delete(width_N, op) }", ""},
		{"var width_N = map[int]int{1: 4, 2: 8, 3: 3}\n\nfunc F(op int) int { return width_N[op] } @\n\nfunc all_N() map[int]int { return width_N }", ""},
		{"var width_N = map[int]int{}\n\nfunc F(op int) int { return width_N[op] } @", ""},
		{"var kind_N = map[string]int{\"a\": 4, \"b\": 8, \"c\": 3}\n\nfunc F(op string) int { return kind_N[op] } @", ""},
	})
}

// TestZeroedBufferShapes: only a large byte buffer from which nothing is read before it is written
// need not be zero.
func TestZeroedBufferShapes(t *testing.T) {
	checkShapes(t, zeroedbuffer.Rule(), "import (\n\t\"io\"\n\t\"os\"\n)\n\nfunc use(b []byte) int { return len(b) }\n\nvar _ = io.EOF", "runtime.duffzero", 0, []shape{
		{"func F(s string) string {\n\tvar b [4096]byte @\n\tn := copy(b[:], s)\n\treturn string(b[:n])\n}", "zeroes b"},
		{"func F(s string) string {\n\tb := [4096]byte{} @\n\tfor i := range s {\n\t\tb[i] = s[i]\n\t}\n\treturn string(b[:len(s)])\n}", "zeroes b"},
		{"func F(s string) string {\n\tvar b [64]byte @\n\tn := copy(b[:], s)\n\treturn string(b[:n])\n}", ""},
		{"func F(s string) int {\n\tvar b [4096]int32 @\n\tfor i := range s {\n\t\tb[i] = 3\n\t}\n\treturn len(b)\n}", ""},
		{"func F(s string) string {\n\tb := [4096]byte{1: 3} @\n\tn := copy(b[:], s)\n\treturn string(b[:n])\n}", ""},
		{"func F(s string) (n byte) {\n\tvar b [4096]byte @\n\tfor i := range s {\n\t\tb[s[i]]++\n\t}\n\treturn b[3]\n}", ""},
		{"func F(f *os.File) int {\n\tvar b [4096]byte @\n\tn, _ := f.Read(b[:])\n\treturn use(b[:n])\n}", "zeroes b"},
		{"func F(f *os.File) int {\n\tb := make([]byte, 4096) @\n\tn, _ := io.ReadFull(f, b)\n\treturn use(b[:n])\n}", "zeroes b"},
		{"func F(w io.Writer, r io.Reader) {\n\tb := make([]byte, 4096) @\n\tio.CopyBuffer(w, r, b)\n}", "zeroes b"},
		{"func F(n int, f *os.File) int {\n\tb := make([]byte, n) @\n\tf.Read(b)\n\treturn use(b[:n])\n}", ""},
		{"func F() int {\n\tvar b [4096]byte @\n\treturn use(b[:])\n}", ""},
		{"func F() int {\n\tb := make([]byte, 4096) @\n\treturn use(b)\n}", ""},
		{"func F() [4096]byte {\n\tvar b [4096]byte @\n\tb[3] = 1\n\treturn b\n}", ""},
		{"func F(s []byte) []byte {\n\tvar b [4096]byte @\n\tb[0] = 3\n\treturn s[b[0]:]\n}", ""},
	})
}

// TestStringBytesCopyShapes: a conversion is not needed if all that gets the copy takes the
// original, too.
func TestStringBytesCopyShapes(t *testing.T) {
	const head = `import (
	"bytes"
	"net/http"
	"os"
	"strings"
)

func sum(b []byte) (n int) {
	for _, c := range b {
		n += int(c)
	}
	return n
}

func scan(b []byte) int {
	if len(b) == 0 || b == nil {
		return 0
	}
	head := b[:1]
	return int(head[0]) + sum(b[1:])
}

func again(b []byte, n int) int {
	if n == 0 {
		return len(b)
	}
	return again(b, n-1)
}

func clear(b []byte) int { b[0] = 0; return 1 }

func grow(b []byte) int { return len(append(b, 1)) }

func point(b []byte) *byte { return &b[0] }

func keep(b []byte) int { kept = b; return 1 }

func text(b []byte) string { return string(b) }

func into(b []byte) int { return copy(kept, b) }

func over(b []byte) int { return copy(b, kept) }

func send(b []byte) int { pipe <- b; return 1 }

func index(b, t []byte) int { return len(t[b[0]:]) }

func count(b []byte) int { b[0]++; return 1 }

func drop(b []byte) int { _ = b; return 1 }

var (
	kept []byte
	pipe chan []byte
	_, _ = strings.Contains, bytes.Contains
	_    http.Handler
)`
	checkShapes(t, stringbytescopy.Rule(), head, "runtime.stringtoslicebyte", 0, []shape{
		{"func F(s string) int { return sum([]byte(s)) } @", "Let madeup.sum read the string"},
		{"func F(s string) int { return scan([]byte(s)) } @", "Let madeup.scan read the string"},
		{"func F(s string) int { return again([]byte(s), 3) } @", "Let madeup.again read the string"},
		{"func F(s string) int { return index([]byte(s), kept) } @", "Let madeup.index read the string"},
		{"func F(s string) int { return into([]byte(s)) } @", "Let madeup.into read the string"},
		{"func F(s string) int { return drop([]byte(s)) } @", "Let madeup.drop read the string"},
		{"func F(s string) string { return text([]byte(s)) } @", "Let madeup.text read the string"},
		{"func F(s string) int { return clear([]byte(s)) } @", ""},
		{"func F(s string) int { return grow([]byte(s)) } @", ""},
		{"func F(s string) *byte { return point([]byte(s)) } @", ""},
		{"func F(s string) int { return keep([]byte(s)) } @", ""},
		{"func F(s string) int { return over([]byte(s)) } @", ""},
		{"func F(s string) int { return send([]byte(s)) } @", ""},
		{"func F(s string) int { return count([]byte(s)) } @", ""},
		{"func F(s string) { os.Stdout.Write([]byte(s)) } @", "os.Stdout.WriteString"},
		{"func F(w http.ResponseWriter, s string) { w.Write([]byte(s)) } @", "io.WriteString(w, …)"},
		{"func F(s string) int { return bytes.IndexByte([]byte(s), 'x') } @", "strings.IndexByte"},
		{"func F(s string, t []byte) bool { return bytes.Contains([]byte(s), t) } @", ""},
		{"func F(s string) int {\n\tb := []byte(s) @\n\treturn sum(b)\n}", "Let madeup.sum read the string"},
		{"func F(s string) int {\n\tb := []byte(s) @\n\tb[0] = 3\n\treturn sum(b)\n}", ""},
		{"func F(s string) int {\n\tb := []byte(s) @\n\tb = b[1:]\n\treturn sum(b)\n}", ""},
	})
	checkShapes(t, stringbytescopy.Rule(), head+"\n\nvar sizes map[string]int", "runtime.slicebytetostring", 0, []shape{
		{"func F(b []byte) int {\n\tk := string(b) @\n\treturn sizes[k]\n}", "the conversion in the index"},
		{"func F(b []byte) {\n\tk := string(b) @\n\tsizes[k] = 3\n}", ""},
		{"func F(b []byte) {\n\tk := string(b) @\n\tsizes[k]++\n}", ""},
		{"func F(b []byte) bool { return strings.Contains(string(b), \"x\") } @", "bytes.Contains"},
		{"func F(b []byte) { os.Stdout.WriteString(string(b)) } @", "os.Stdout.Write,"},
		{"func F(b []byte) string { return string(b) } @", ""},
	})
}

// TestCtorPerCallShapes: a constructor's value can be kept if its arguments never differ, and if
// the function neither passes it on nor keeps it.
func TestCtorPerCallShapes(t *testing.T) {
	const head = `import (
	"net/http"
	"time"
)

type table struct {
	rows [4096]byte
	n    int
	next *table
}

type option struct{ size int }

type holder struct{ timer *time.Timer }

func newTable(options ...any) *table { return &table{n: len(options)} }

func newNumber() int { return 3 }

func newBytes() []byte { return make([]byte, 4096) }

func newList() []int { return make([]int, 4096) }

func newFailing() error { return nil }

func newShower() interface{ show() } { return nil }

func newRequest() *http.Request { return nil }

func newHolder() holder { return holder{} }

func newThree() (*table, int, error) { return nil, 0, nil }

func loadTable() *table { return nil }

func twice(n int) int { return 2 * n }

func (t *table) size() int { return t.n }

func (t *table) grow() *table { return t.next }

func keep(t *table) { kept = t }

func passOn(t *table) { keep(t) }

func count(t *table) int { return t.n }

var (
	kept   *table
	global = 3
)`
	of := func(name string, shapes ...shape) {
		t.Helper()
		checkShapes(t, ctorpercall.Rule(), head, "runtime.mallocgc main."+name, 8192, shapes)
	}
	const once = "Create it once"
	of("newTable", []shape{
		{"func F() int {\n\tt := newTable() @\n\treturn t.n\n}", once},
		{"func F() int {\n\tt := newTable(3, \"a\", nil) @\n\treturn t.size()\n}", once},
		{"func F() int {\n\tt := newTable(global, twice, option{size: 3}, &option{4}) @\n\treturn t.n\n}", once},
		{"func F() int {\n\tt := newTable(http.DefaultClient, http.NewRequest) @\n\treturn t.n\n}", once},
		{"func F(n int) int {\n\tt := newTable(n) @\n\treturn t.n\n}", ""},
		{"func F(n int) int {\n\tt := newTable(option{size: n}) @\n\treturn t.n\n}", ""},
		{"func F() int {\n\tt := newTable(twice(3)) @\n\treturn t.n\n}", ""},
		{"func F() *table {\n\tt := newTable() @\n\treturn t\n}", ""},
		{"func F() {\n\tt := newTable() @\n\tkept = t\n}", ""},
		{"func F() *table {\n\tt := newTable() @\n\treturn t.grow()\n}", ""},
		{"func F() *table {\n\tt := newTable() @\n\treturn t.next\n}", ""},
		{"func F() int {\n\tt := newTable() @\n\treturn count(t)\n}", once},
		{"func F() {\n\tt := newTable() @\n\tgo keep(t)\n}", ""},
		{"func F() {\n\tt := newTable() @\n\tkeep(t)\n}", ""},
		{"func F() {\n\tt := newTable() @\n\tpassOn(t)\n}", ""},
		{"func F() int {\n\tt := newTable() @\n\tif t == nil { return 0 }\n\treturn (t).n\n}", once},
		{"func F() int { return newTable().n } @", once},
	}...)
	of("newList", shape{"func F() int {\n\tl := newList() @\n\treturn l[3]\n}", once},
		shape{"func F() (n int) {\n\tl := newList() @\n\tfor _, x := range l { n += x }\n\treturn n\n}", once})
	of("newNumber", shape{"func F() int { return newNumber() } @", ""})
	of("newBytes", shape{"func F() byte { return newBytes()[3] } @", ""})
	of("newFailing", shape{"func F() bool { return newFailing() == nil } @", ""})
	of("newShower", shape{"func F() { newShower().show() } @", once})
	of("newRequest", shape{"func F() string { return newRequest().Method } @", ""})
	of("newHolder", shape{"func F() bool { return newHolder().timer == nil } @", ""})
	of("newThree", shape{"func F() int {\n\tt, _, _ := newThree() @\n\treturn t.n\n}", ""})
	of("loadTable", shape{"func F() int { return loadTable().n } @", ""})
}

// TestRegexpOfWordsShapes: expressions whose alternatives are words, and how they are put together.
func TestRegexpOfWordsShapes(t *testing.T) {
	const head = `import (
	"fmt"
	"regexp"
	"strings"
)

const words = "red|green"

var (
	colors  = regexp.MustCompile("^(?:red|green|blue)$")
	folded  = regexp.MustCompile("(?i)^(?:red|green|blue)$")
	joined  = regexp.MustCompile("^(?:" + words + ")$")
	printed = regexp.MustCompile(fmt.Sprintf("^(?:%s)$", words))
	listed  = regexp.MustCompile("^(?:" + strings.Join([]string{"red", "green"}, "|") + ")$")
	spaced  = regexp.MustCompile("^(?:" + strings.Join([]string{"red", "green"}, " ") + ")$")
	numbers = regexp.MustCompile("^[0-9]+$")
	padded  = regexp.MustCompile(fmt.Sprintf("^(?:%5s)$", words))
	unknown = regexp.MustCompile(pattern())
)

type filter struct{ names, other *regexp.Regexp }

func pattern() string { return words }

func newFilter(all []string) *filter {
	var quoted []string
	for _, w := range all {
		quoted = append(quoted, regexp.QuoteMeta(w))
	}
	return &filter{
		names: regexp.MustCompile("^(?:" + strings.Join(quoted, "|") + ")$"),
		other: regexp.MustCompile("^(?:" + strings.Join(all, "|") + ")$"),
	}
}`
	checkShapes(t, regexpofwords.Rule(), head, "regexp.(*Regexp).MatchString", 0, []shape{
		{"func F(s string) bool { return colors.MatchString(s) } @", "one of 3 fixed words"},
		{"func F(s string) bool { return folded.MatchString(s) } @", "strings.ToLower(s)"},
		{"func F(s string) bool { return joined.MatchString(s) } @", "one of 2 fixed words"},
		{"func F(s string) bool { return printed.MatchString(s) } @", "one of 2 fixed words"},
		{"func F(s string) bool { return listed.MatchString(s) } @", "one of 2 fixed words"},
		{"func F(s string) bool { return spaced.MatchString(s) } @", ""},
		{"func F(s string) bool { return numbers.MatchString(s) } @", ""},
		{"func F(s string) bool { return padded.MatchString(s) } @", ""},
		{"func F(s string) bool { return unknown.MatchString(s) } @", ""},
		{"func F(f *filter, s string) bool { return f.names.MatchString(s) } @", "one of the words that"},
		{"func F(f *filter, s string) bool { return f.other.MatchString(s) } @", ""},
		{"func F(r *regexp.Regexp, s string) bool { return r.MatchString(s) } @", ""},
	})
}

// TestQuadraticInsertShapes: assignments that move or copy the slice that they assign.
func TestQuadraticInsertShapes(t *testing.T) {
	const head = "import (\n\t\"bytes\"\n\t\"slices\"\n)\n\nvar _, _ = bytes.Clone, slices.Clip[[]int]"
	loop := func(stmt, says string) shape {
		return shape{"func F(xs, ys []int, n int) []int {\n\tfor i := range n {\n\t\t_ = i\n\t\t" + stmt + " @\n\t}\n\treturn xs\n}", says}
	}
	checkShapes(t, quadraticinsert.Rule(), head, "runtime.memmove", 2048, []shape{
		loop("xs = append([]int{i}, xs...)", "slices.Reverse once"),
		loop("xs = slices.Insert(xs, 0, i)", "slices.Reverse once"),
		loop("xs = slices.Insert(xs, 1, i)", ""),
		loop("xs = append(xs[:0], xs[1:]...)", "xs = xs[1:]"),
		loop("xs = append(xs[:i], xs[i+1:]...)", "slices.DeleteFunc"),
		loop("xs = append(xs[:i], ys[i+1:]...)", ""),
		loop("xs = slices.Delete(xs, 0, 1)", "xs = xs[1:]"),
		loop("xs = slices.Delete(xs, i, i+1)", "slices.DeleteFunc"),
		loop("ys = slices.Delete(xs, i, i+1)", ""),
		loop("xs = append(slices.Clone(xs), i)", "Append in place"),
		loop("xs = append(slices.Clip(xs), i)", "Append in place"),
		loop("xs = append(append([]int(nil), xs...), i)", "Append in place"),
		loop("xs = append(append([]int{}, xs...), i)", "Append in place"),
		loop("xs = append(append(make([]int, 0), xs...), i)", "Append in place"),
		loop("xs = append(append(ys, xs...), i)", ""),
		loop("xs = slices.Concat(xs, ys)", "Append in place"),
		loop("xs = slices.Concat(ys, ys)", ""),
		loop("xs = append(xs, i)", ""),
		loop("xs = append(xs, ys...)", ""),
		loop("if xs[i] == n { xs = slices.Delete(xs, i, i+1); return xs }", ""),
		loop("if xs[i] == n { xs = slices.Delete(xs, i, i+1); break }", ""),
		loop("xs, ys = ys, xs; xs = slices.Insert(xs, 0, i)", ""),
	})
}
