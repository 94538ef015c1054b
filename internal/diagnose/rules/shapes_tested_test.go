package rules_test

import (
	"testing"

	resultonlytested "github.com/hone-go/hone/internal/diagnose/rules/result-only-tested"
)

// TestResultOnlyTestedShapes: what is allocated only becomes a part of a result, and the caller
// only compares the result with nil.
func TestResultOnlyTestedShapes(t *testing.T) {
	const head = `type span struct{ from, to []int }

type fault struct{ at int }

func (f *fault) Error() string { return "fault" }

var kept *span

func use(*span) {}`
	const caller = "\n\nfunc test_N(a, b int) bool {\n\treturn both_N(a, b) != nil //: c_N\n}"
	const literal = "func both_N(a, b int) *span {\n\tif a > b {\n\t\treturn nil\n\t}\n\treturn &span{from: []int{a}} @ < c_N\n}"
	checkShapes(t, resultonlytested.Rule(), head, "runtime.growslice", 100, numbered([]shape{
		{literal + caller, "test0 only compares the result with nil"},
		{"func both_N(a, b int) (s *span) {\n\tif a > b {\n\t\treturn nil\n\t}\n\ts = new(span) @ < c_N\n\ts.from = []int{a}\n\treturn s\n}" + caller, "both1 return a bool"},
		{"func both_N(a, b int) *span {\n\ts := &span{}\n\ts.from = make([]int, 3) @ < c_N\n\tif a > b {\n\t\treturn nil\n\t}\n\ts.from[0] = a\n\treturn s\n}" + caller, "both2"},
		{"func both_N(a, b int) []int {\n\tif a > b {\n\t\treturn nil\n\t}\n\tvar out []int\n\tout = append(out, a, b) @ < c_N\n\treturn out\n}" + caller, "both3"},
		{"func both_N(a, b int) map[int]bool {\n\tif a > b {\n\t\treturn nil\n\t}\n\tm := make(map[int]bool) @ < c_N\n\tm[a] = true\n\treturn m\n}" + caller, "both4"},
		{literal + "\n\nfunc test_N(a, b int) int {\n\tif s := both_N(a, b); s == nil { //: c_N\n\t\treturn 1\n\t}\n\treturn 2\n}", "both5"},
		{"func low_N(a int) []int { return []int{a} } @ < d_N < c_N\n\nfunc both_N(a, b int) *span {\n\tif a > b {\n\t\treturn nil\n\t}\n\treturn &span{from: low_N(a)} //: d_N\n}" + caller, "low6 allocates for the result of both6"},
		// The value is used.
		{literal + "\n\nfunc test_N(a, b int) int {\n\tif s := both_N(a, b); s != nil { //: c_N\n\t\treturn len(s.from)\n\t}\n\treturn 2\n}", ""},
		{literal + "\n\nfunc test_N(a, b int) {\n\tuse(both_N(a, b)) //: c_N\n}", ""},
		{literal + "\n\nfunc test_N(a, b int) bool {\n\tkept = both_N(a, b) //: c_N\n\treturn kept != nil\n}", ""},
		{literal + "\n\nfunc test_N(a, b int) (s *span, ok bool) {\n\ts = both_N(a, b) //: c_N\n\treturn s, s != nil\n}", ""},
		// It is kept, read or made for something else.
		{"func both_N(a, b int) *span {\n\tif a > b {\n\t\treturn nil\n\t}\n\ts := &span{} @ < c_N\n\tkept = s\n\treturn s\n}" + caller, ""},
		{"func both_N(a, b int) *span {\n\ts := &span{from: make([]int, 3)} @ < c_N\n\ts.from[0] = a\n\tif s.from[0] > b {\n\t\treturn nil\n\t}\n\treturn s\n}" + caller, ""},
		{"func both_N(a, b int) *span {\n\tif a > b {\n\t\treturn nil\n\t}\n\ts := &span{} @ < c_N\n\tuse(s)\n\treturn s\n}" + caller, ""},
		{"func both_N(a, b int) *span {\n\tif a > b {\n\t\treturn nil\n\t}\n\tt := make([]int, 3) @ < c_N\n\tt[0] = b\n\tfor _, x := range t {\n\t\ta += x\n\t}\n\treturn &span{from: t}\n}" + caller, ""},
		// Never nil, an error, or one of several results.
		{"func both_N(a, b int) *span {\n\treturn &span{from: []int{a, b}} @ < c_N\n}" + caller, ""},
		{"func both_N(a, b int) *fault {\n\tif a > b {\n\t\treturn nil\n\t}\n\treturn &fault{a} @ < c_N\n}" + caller, ""},
		{"func both_N(a, b int) (*span, error) {\n\tif a > b {\n\t\treturn nil, nil\n\t}\n\treturn &span{}, nil @ < c_N\n}\n\nfunc test_N(a, b int) bool {\n\ts, _ := both_N(a, b) //: c_N\n\treturn s != nil\n}", ""},
		{"type part_N interface{ both_N(a, b int) *span }\n\ntype real_N struct{}\n\nfunc (real_N) both_N(a, b int) *span {\n\tif a > b {\n\t\treturn nil\n\t}\n\treturn &span{} @ < c_N\n}\n\nfunc test_N(p part_N) bool {\n\treturn p.both_N(1, 2) != nil //: c_N\n}", ""},
	}))
}
