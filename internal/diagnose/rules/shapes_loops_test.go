package rules_test

import (
	"testing"

	binaryreflect "github.com/hone-go/hone/internal/diagnose/rules/binary-reflect"
	concatloop "github.com/hone-go/hone/internal/diagnose/rules/concat-loop"
	formattedmapkey "github.com/hone-go/hone/internal/diagnose/rules/formatted-map-key"
	linearscan "github.com/hone-go/hone/internal/diagnose/rules/linear-scan"
	loopinvariantcall "github.com/hone-go/hone/internal/diagnose/rules/loop-invariant-call"
	quadraticinsert "github.com/hone-go/hone/internal/diagnose/rules/quadratic-insert"
	timeformatnow "github.com/hone-go/hone/internal/diagnose/rules/time-format-now"
)

// TestLoopInvariantCallShapes: calls whose arguments do not change, beside others, within others
// and in functions that are called for each element.
func TestLoopInvariantCallShapes(t *testing.T) {
	const head = "import (\n\t\"slices\"\n\t\"strings\"\n)\n\ntype query struct{ text string }\n\nvar _ = slices.Contains[[]string]"
	loop := func(expr, says string) shape {
		return shape{"func F(all []string, q *query, text string) (n int) {\n\tfor _, s := range all {\n\t\tif " + expr + " { @\n\t\t\tn++\n\t\t}\n\t}\n\treturn n\n}", says}
	}
	each := func(stmt, says string) shape {
		return shape{"func F(all []string, q *query, text string) bool {\n\treturn slices.ContainsFunc(all, func(s string) bool {\n\t\t" + stmt + " @\n\t})\n}", says}
	}
	checkShapes(t, loopinvariantcall.Rule(), head, "unicode.ToLower strings.Map strings.ToLower", 0, []shape{
		loop("strings.Contains(s, strings.ToLower(text))", "strings.ToLower(text) has the same result in every iteration"),
		loop("strings.Contains(strings.ToLower(s), strings.ToLower(q.text))", "strings.ToLower(q.text) has the same"),
		loop("strings.Contains(s, strings.TrimSpace(strings.ToLower(text)))", "has the same result"),
		loop("strings.Contains(s, strings.TrimSpace(strings.ToLower(s)))", ""),
		loop("strings.Contains(strings.ToLower(s), strings.TrimSpace(text))", ""), // the rows are of the other call
		each("return strings.Contains(s, strings.ToLower(text))", "before the call of slices.ContainsFunc"),
		each("return strings.Contains(s, strings.ToLower(q.text))", "before the call of slices.ContainsFunc"),
		each("return strings.Contains(text, strings.ToLower(s))", ""),
		each("text += s; return strings.Contains(s, strings.ToLower(text))", ""),
		{"func F(text string) func(string) bool {\n\treturn func(s string) bool {\n\t\treturn strings.Contains(s, strings.ToLower(text)) @\n\t}\n}", ""},
	})
}

// TestTimeFormatNowShapes: times that are the current one, or as far from it each time.
func TestTimeFormatNowShapes(t *testing.T) {
	const head = `import "time"

type entry struct{ at time.Time }

type logger struct{ layout, fine, Open string }

func newLogger() *logger {
	return &logger{layout: time.RFC3339, fine: time.RFC3339Nano, Open: time.RFC3339}
}`
	checkShapes(t, timeformatnow.Rule(), head, "time.Time.appendFormat time.Time.Format", 0, []shape{
		{"func F() string { return time.Now().AddDate(0, 0, -1).Format(time.DateOnly) } @", "changes once a second"},
		{"func F(d int) string { return time.Now().AddDate(0, 0, d).Format(time.DateOnly) } @", ""},
		{"func F() string { return time.Now().Truncate(time.Hour).Format(time.RFC3339) } @", "changes once a second"},
		{"func F() string {\n\te := &entry{at: time.Now()}\n\treturn e.at.Format(time.RFC3339) @\n}", "changes once a second"},
		{"func F(at time.Time) string {\n\te := entry{at: time.Now()}\n\te.at = at\n\treturn e.at.Format(time.RFC3339) @\n}", ""},
		{"func F(e entry) string { return e.at.Format(time.RFC3339) } @", ""},
		{"func (l *logger) F() string { return time.Now().Format(l.layout) } @", "changes once a second"},
		{"func (l *logger) F() string { return time.Now().Format(l.fine) } @", ""},
		{"func (l *logger) F() string { return time.Now().Format(l.Open) } @", ""},
	})
}

// TestFormattedMapKeyShapes: texts that are joined to be a key.
func TestFormattedMapKeyShapes(t *testing.T) {
	const head = "import (\n\t\"strconv\"\n\t\"strings\"\n)\n\nvar sizes = map[string]int{}"
	checkShapes(t, formattedmapkey.Rule(), head, "strings.Join", 0, []shape{
		{"func F(a string, n int) int { return sizes[strings.Join([]string{a, strconv.Itoa(n)}, \"|\")] } @", "struct{ a string; n int }"},
		{"func F(parts []string) int { return sizes[strings.Join(parts, \"|\")] } @", ""},
	})
}

// TestBinaryReflectShapes: the functions of encoding/binary that go through the fields of a struct.
func TestBinaryReflectShapes(t *testing.T) {
	const head = "import \"encoding/binary\"\n\ntype header struct {\n\tkind uint16\n\tsize uint32\n}"
	checkShapes(t, binaryreflect.Rule(), head, "encoding/binary.(*encoder).value encoding/binary.Append", 0, []shape{
		{"func F(b []byte, h header) { binary.Append(b, binary.BigEndian, h) } @", "writes a header by reflection"},
		{"func F(b []byte, n uint32) { binary.Append(b, binary.BigEndian, n) } @", ""},
	})
	checkShapes(t, binaryreflect.Rule(), head, "encoding/binary.(*decoder).value encoding/binary.Decode", 0, []shape{
		{"func F(b []byte, h *header) { binary.Decode(b, binary.BigEndian, h) } @", "reads a *header by reflection"},
	})
}

// TestConcatLoopShapes: strings that become longer in another function, or in a slice.
func TestConcatLoopShapes(t *testing.T) {
	checkShapes(t, concatloop.Rule(), "", "runtime.mallocgc runtime.concatstrings runtime.concatstring2", 2048, []shape{
		{"func add(s, x string) string { return s + x } @ < one\n\nfunc F(all []string) (s string) {\n\tfor _, x := range all {\n\t\ts = add(s, x) //: one\n\t}\n\treturn s\n}", "add returns s with more text"},
		{"func join(s, x string) string { return s + x } @ < two\n\nfunc F(all []string) (n int) {\n\tfor _, x := range all {\n\t\ts := join(x, x) //: two\n\t\tn += len(s)\n\t}\n\treturn n\n}", ""},
		{"func F(all []string) string {\n\tparts := make([]string, 4)\n\tfor i, x := range all {\n\t\tparts[i%4] += x @\n\t}\n\treturn parts[0]\n}", "adds to parts[i % 4] again and again"},
		{"func F(rows [][]string) []string {\n\tcolumns := make([]string, 4)\n\tfor _, row := range rows {\n\t\tfor i, x := range row {\n\t\t\tcolumns[i] += x @\n\t\t}\n\t}\n\treturn columns\n}", "adds to columns[i] again"},
		{"func F(all []string) {\n\tfor i := range all {\n\t\tall[i] += \"x\" @\n\t}\n}", ""},
	})
}

// TestQuadraticInsertCopies: slices that are copied to take an element, or for each entry of a map.
func TestQuadraticInsertCopies(t *testing.T) {
	checkShapes(t, quadraticinsert.Rule(), "", "runtime.memmove", 2048, []shape{
		{"func F(xs []int) (n int) {\n\tfor len(xs) > 0 {\n\t\tn += xs[0]\n\t\txs = append([]int(nil), xs[1:]...) @\n\t}\n\treturn n\n}", "xs = xs[1:]"},
		{"func F(m map[string][]int, keys []string) {\n\tfor i, k := range keys {\n\t\tm[k] = append([]int{i}, m[k]...) @\n\t}\n}", "Append to the end of m[k]"},
		{"func F(keys []string) {\n\tfor i, k := range keys {\n\t\tm := map[string][]int{}\n\t\tm[k] = append([]int{i}, m[k]...) @\n\t}\n}", ""},
	})
	checkShapes(t, quadraticinsert.Rule(), "", "runtime.memmove", 64, []shape{
		{"func F(m map[string][]int, keys []string) {\n\tfor i, k := range keys {\n\t\tm[k] = append([]int{i}, m[k]...) @\n\t}\n}", ""},
	})
}

// TestLinearScanShapes: functions that add an element unless they find it.
func TestLinearScanShapes(t *testing.T) {
	const head = "import \"slices\"\n\ntype set struct{ all []string }"
	checkShapes(t, linearscan.Rule(), head, "slices.Index[go.shape.[]string] slices.Contains[go.shape.[]string]", 0, []shape{
		{"func (s *set) add(x string) {\n\tif !slices.Contains(s.all, x) { @ < one\n\t\ts.all = append(s.all, x)\n\t}\n}\n\nfunc F(s *set, xs []string) {\n\tfor _, x := range xs {\n\t\ts.add(x) //: one\n\t}\n}", "calls add"},
		{"func (s *set) put(x string) {\n\tif !slices.Contains(s.all, x) { @ < two\n\t\ts.all = append(s.all, x)\n\t}\n}\n\nfunc F(sets []*set, x string) {\n\tfor _, s := range sets {\n\t\ts.put(x) //: two\n\t}\n}", ""},
		{"func (s *set) has(x string) bool {\n\treturn slices.Contains(s.all, x) @ < three\n}\n\nfunc F(s *set, xs []string) (n int) {\n\tfor _, x := range xs {\n\t\tif s.has(x) { //: three\n\t\t\tn++\n\t\t}\n\t}\n\treturn n\n}", ""},
		{"func with(xs []string, x string) []string {\n\tif slices.Contains(xs, x) { @ < four\n\t\treturn xs\n\t}\n\treturn append(xs, x)\n}\n\nfunc F(all []string) (xs []string) {\n\tfor _, x := range all {\n\t\txs = with(xs, x) //: four\n\t}\n\treturn xs\n}", "calls with"},
		{"func plus(xs []string, x string) []string {\n\tif slices.Contains(xs, x) { @ < five\n\t\treturn xs\n\t}\n\treturn append(xs, x)\n}\n\nfunc F(lists [][]string) (n int) {\n\tfor _, xs := range lists {\n\t\txs = plus(xs, \"x\") //: five\n\t\tn += len(xs)\n\t}\n\treturn n\n}", ""},
	})
}
