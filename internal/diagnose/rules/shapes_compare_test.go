package rules_test

import (
	"testing"

	formattedforlength "github.com/hone-go/hone/internal/diagnose/rules/formatted-for-length"
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

// TestFormattedDaysShapes: times that are formatted only to compare their days.
func TestFormattedDaysShapes(t *testing.T) {
	const head = "import \"time\"\n\nconst day = time.DateOnly"
	checkShapes(t, formattedtocompare.Rule(), head, "time.Time.Format", 24, []shape{
		{"func F(t, u time.Time) bool { return t.Format(day) == u.Format(day) } @", "Date of t and of u return"},
		{"func F(t time.Time, s string) bool { return t.Format(day) == s } @", "Have s as numbers or as two times, once"},
		{"func F(t time.Time) bool { return \"2006-01-02\" <= t.Format(day) } @", "only to be compared (<=)"},
		{"func F(t time.Time, s string) bool {\n\tk := t.Format(\"2006-01\") @\n\treturn k == s\n}", "t is formatted as"},
		{"func F(t time.Time, m map[string]int) bool {\n\tk := t.Format(day) @\n\tm[k]++\n\treturn k == \"\"\n}", ""},
		{"func F(t time.Time, s string) bool { return t.Format(time.RFC3339) == s } @", ""},
		{"func F(t time.Time, s string) bool { return t.Format(\"15:04\") == s } @", ""},
		{"func F(t time.Time, s, layout string) bool { return t.Format(layout) == s } @", ""},
		{"func F(t time.Time) string { return t.Format(day) } @", ""},
	})
}

// TestFormattedForLengthShapes: what is formatted or encoded only for its length.
func TestFormattedForLengthShapes(t *testing.T) {
	const head = "import (\n\t\"encoding/json\"\n\t\"fmt\"\n\t\"strings\"\n\t\"time\"\n)\n\nvar _, _, _ = json.Marshal, fmt.Sprint, strings.Join\n\nvar _ time.Time"
	checkShapes(t, formattedforlength.Rule(), head, "fmt.Sprintf", 24, []shape{
		{"func F(n int) int { return len(fmt.Sprintf(\"%d\", n)) } @", "compare with powers of ten"},
		{"func F(x float64) int { return len(fmt.Sprintf(\"%.2f\", x)) } @", "an array on the stack"},
		{"func F(s string) int { return len(fmt.Sprintf(\"<%s>\", s)) } @", "Add the lengths of the parts"},
		{"func F(v []int) int { return len(fmt.Sprintf(\"%v\", v)) } @", ""},
		{"func F(n int) (string, int) {\n\ts := fmt.Sprintf(\"%d\", n) @\n\treturn s, len(s)\n}", ""},
	})
	checkShapes(t, formattedforlength.Rule(), head, "encoding/json.Marshal", 24, []shape{
		{"func F(v any) int {\n\tb, _ := json.Marshal(v) @\n\treturn len(b)\n}", "json.Marshal encodes v"},
		{"func F(v any) ([]byte, int) {\n\tb, _ := json.Marshal(v) @\n\treturn b, len(b)\n}", ""},
	})
	checkShapes(t, formattedforlength.Rule(), head, "strings.Join", 24, []shape{
		{"func F(v []string) int { return len(strings.Join(v, \",\")) } @", "Add the lengths of the parts and"},
	})
	checkShapes(t, formattedforlength.Rule(), head, "time.Time.Format", 24, []shape{
		{"func F(t time.Time) int { return len(t.Format(time.RFC3339)) } @", "AppendFormat of a time"},
	})
}
