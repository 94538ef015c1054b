package rules_test

import (
	"testing"

	formattedtocompare "github.com/hone-go/hone/internal/diagnose/rules/formatted-to-compare"
)

// TestFormattedToCompareShapes: only two texts that one function makes of two values are not needed
// for the comparison.
func TestFormattedToCompareShapes(t *testing.T) {
	head := `import (
	"fmt"
	"strconv"
	"strings"
)

var _ = strings.ToLower

type point struct{ x, y int }

func (p point) String() string { return fmt.Sprint(p.x, ",", p.y) }

func key(p point) string { return fmt.Sprintf("%d/%d", p.x, p.y) }

func rough(p point) string { return fmt.Sprintf("%.2f", float64(p.x)) }

type list []int

func (l *list) String() string { return fmt.Sprint(*l) }

type shape interface{ String() string }

var _ = strconv.Itoa`
	checkShapes(t, formattedtocompare.Rule(), head, "main.point.String", 0, []shape{
		{"func F(p, q point) bool { return p.String() == q.String() } @", "Compare the values: p == q."},
		{"func F(p, q point) bool { return p.String() < q.String() } @", "a method Compare"},
		{"func F(p, q *list) bool { return p.String() != q.String() } @", "a method Equal"},
		{"func F(p, q shape) bool { return (p.String()) == q.String() } @", "a method Equal"},
		{"func F(p, q point, on bool) int {\n\tif on && p.String() == q.String() { @\n\t\treturn 1\n\t}\n\treturn 0\n}", "p and q are formatted by String"},
		{"func F(p, q point) int {\n\ta, b := p.String(), q.String() @\n\tif a == b {\n\t\treturn 1\n\t}\n\treturn 0\n}", "p and q are formatted by String"},
		{"func F(p, q point) string {\n\ta, b := p.String(), q.String() @\n\tif a == b {\n\t\treturn a\n\t}\n\treturn \"\"\n}", ""},
		{"func F(p point, s string) bool { return p.String() == s } @", ""},
		{"func F(p point) bool { return p.String() == \"0,0\" } @", ""},
		{"func F(p point, l *list) bool { return p.String() == l.String() } @", ""},
		{"func F(p, q point) bool { return len(p.String()) == len(q.String()) } @", ""},
		{"func F(p, q point) bool { return strings.ToLower(p.String()) == strings.ToLower(q.String()) } @", ""},
	})
	checkShapes(t, formattedtocompare.Rule(), head, "main.key", 0, []shape{
		{"func F(p, q point) bool { return key(p) == key(q) } @", "Compare the values: p == q."},
		{"func F(p, q point) int {\n\tpk := key(p) @\n\tif pk != key(q) {\n\t\treturn 1\n\t}\n\treturn 0\n}", "p and q are formatted by key"},
		{"func F(p, q point) bool { return key(p) == \"1/2\" } @", ""},
	})
	checkShapes(t, formattedtocompare.Rule(), head, "main.rough", 0, []shape{
		{"func F(p, q point) bool { return rough(p) == rough(q) } @", ""},
	})
	checkShapes(t, formattedtocompare.Rule(), head, "strconv.FormatInt", 0, []shape{
		{"func F(a, b int64) bool { return strconv.FormatInt(a, 10) == strconv.FormatInt(b, 10) } @", "Compare the values: a == b."},
		{"func F(a, b int64) bool { return strconv.FormatInt(a, 10) == strconv.FormatInt(b, 16) } @", ""},
		{"func F(a, b float64) bool { return strconv.FormatFloat(a, 'f', 2, 64) == strconv.FormatFloat(b, 'f', 2, 64) } @", ""},
	})
}
