package rules_test

import (
	"testing"

	formattedtoparse "github.com/hone-go/hone/internal/diagnose/rules/formatted-to-parse"
)

// TestFormattedToParseShapes: what a text is parsed from, and how its value gets there without it.
func TestFormattedToParseShapes(t *testing.T) {
	const head = "import (\n\t\"fmt\"\n\t\"math/big\"\n\t\"net\"\n\t\"net/netip\"\n\t\"net/url\"\n\t\"strconv\"\n\t\"time\"\n)\n\n" +
		"var _, _, _, _, _ = fmt.Sprint, net.ParseIP, url.Parse, big.NewInt, strconv.Itoa\n\nvar _ netip.Addr\n\ntype kind int\n\n" +
		"func (k kind) String() string { return \"k\" }\n\nfunc day(t time.Time) string { return t.Format(time.DateOnly) }"
	checkShapes(t, formattedtoparse.Rule(), head, "strconv.ParseFloat", 0, []shape{
		{"func F(x float64) (v float64) {\n\tv, _ = strconv.ParseFloat(fmt.Sprintf(\"%.2f\", x), 64) @\n\treturn v\n}", "math.Round(x*1e2) / 1e2"},
		{"func F(x float64) (v float64) {\n\ts := strconv.FormatFloat(x, 'f', 3, 64)\n\tv, _ = strconv.ParseFloat(s, 64) @\n\treturn v\n}", "math.Round(x*1e3) / 1e3"},
		{"func F(x float64) (v float64) {\n\tv, _ = strconv.ParseFloat(fmt.Sprintf(\"%v\", x), 64) @\n\treturn v\n}", "Use x itself"},
		{"func F(x any) (v float64) {\n\tv, _ = strconv.ParseFloat(fmt.Sprint(x), 64) @\n\treturn v\n}", "type switch on x"},
		{"func F(x int) (v float64) {\n\tv, _ = strconv.ParseFloat(strconv.Itoa(x), 64) @\n\treturn v\n}", "Convert the number"},
		{"func F(x float64) (v float64, s string) {\n\ts = fmt.Sprintf(\"%.2f\", x)\n\tv, _ = strconv.ParseFloat(s, 64) @\n\treturn v, s\n}", ""},
		{"func F(x float32) (v float64) {\n\tv, _ = strconv.ParseFloat(fmt.Sprint(x), 64) @\n\treturn v\n}", ""},
		{"func F(x, y int) (v float64) {\n\tv, _ = strconv.ParseFloat(fmt.Sprintf(\"%d.%d\", x, y), 64) @\n\treturn v\n}", ""},
		{"func F(x float64) (v float64) {\n\tv, _ = strconv.ParseFloat(fmt.Sprintf(\"%.3g\", x), 64) @\n\treturn v\n}", ""},
		{"func F(s string) (v float64) {\n\tv, _ = strconv.ParseFloat(s, 64) @\n\treturn v\n}", ""},
	})
	checkShapes(t, formattedtoparse.Rule(), head, "strconv.Atoi", 0, []shape{
		{"func F(t time.Time) (v int) {\n\tv, _ = strconv.Atoi(t.Format(\"20060102\")) @\n\treturn v\n}", "y*10000 + int(m)*100 + d"},
		{"func F(y, m int) (v int) {\n\tv, _ = strconv.Atoi(fmt.Sprintf(\"%d%02d\", y, m)) @\n\treturn v\n}", "Compute the number from its parts"},
		{"func F(s string) (v int) {\n\tv, _ = strconv.Atoi(fmt.Sprintf(\"%s\", s)) @\n\treturn v\n}", "Parse s itself"},
		{"func number_N(s string) (v int) {\n\tv, _ = strconv.Atoi(s) @\n\treturn v\n}\n\nfunc F(x any) int { return number_N(fmt.Sprint(x)) }", "type switch on x"},
		{"func number_N(s string) (v int) {\n\tv, _ = strconv.Atoi(s) @\n\treturn v\n}\n\nfunc F(x any, s string) int { return number_N(fmt.Sprint(x)) + number_N(s) }", ""},
		{"func F(k kind) (v int) {\n\tv, _ = strconv.Atoi(fmt.Sprint(k)) @\n\treturn v\n}", ""},
	})
	checkShapes(t, formattedtoparse.Rule(), head, "time.parse time.Parse", 0, []shape{
		{"func F(t time.Time) (v time.Time) {\n\tv, _ = time.Parse(\"2006-01-02\", t.Format(\"2006-01-02\")) @\n\treturn v\n}", "time.Date(y, m, d, 0, 0, 0, 0, time.UTC)"},
		{"func F(t time.Time) (v time.Time) {\n\tv, _ = time.Parse(\"2006-01\", t.Format(\"2006-01\")) @\n\treturn v\n}", "time.Date(y, m, 1, 0"},
		{"func F(t time.Time) (v time.Time) {\n\tv, _ = time.Parse(time.DateOnly, day(t)) @\n\treturn v\n}", "time.Date(y, m, d"},
		{"func F(t time.Time) (v time.Time) {\n\tv, _ = time.Parse(time.RFC3339, t.Format(time.RFC3339)) @\n\treturn v\n}", "Truncate(time.Second)"},
		{"func F(t time.Time, layout string) (v time.Time) {\n\tv, _ = time.Parse(layout, t.Format(layout)) @\n\treturn v\n}", "Cut t to what the layout has"},
		{"func F(y, m, d int) (v time.Time) {\n\tv, _ = time.Parse(\"2006-1-2\", fmt.Sprintf(\"%d-%d-%d\", y, m, d)) @\n\treturn v\n}", "time.Date(year, month, day"},
		{"func F(t time.Time) (v time.Time) {\n\tv, _ = time.Parse(\"15:04\", t.Format(\"15:04\")) @\n\treturn v\n}", "Take the parts from t itself"},
		{"func F(t time.Time) (v time.Time) {\n\tv, _ = time.Parse(\"01-02-2006\", t.Format(\"02-01-2006\")) @\n\treturn v\n}", ""},
		{"func F(t time.Time, m map[string]int) (v time.Time) {\n\ts := t.Format(time.DateOnly)\n\tm[s]++\n\tv, _ = time.Parse(time.DateOnly, s) @\n\treturn v\n}", ""},
	})
	checkShapes(t, formattedtoparse.Rule(), head, "net/url.Parse", 0, []shape{
		{"func F(u *url.URL) (v *url.URL) {\n\tv, _ = url.Parse(u.String()) @\n\treturn v\n}", "u := *u"},
		{"func F(s string) (v *url.URL) {\n\tv, _ = url.Parse(s) @\n\treturn v\n}", ""},
	})
	checkShapes(t, formattedtoparse.Rule(), head, "net/netip.ParseAddr", 0, []shape{
		{"func F(ip net.IP) (v netip.Addr) {\n\tv, _ = netip.ParseAddr(ip.String()) @\n\treturn v\n}", "netip.AddrFromSlice(ip)"},
		{"func F(ip fmt.Stringer) (v netip.Addr) {\n\tv, _ = netip.ParseAddr(ip.String()) @\n\treturn v\n}", ""},
	})
	checkShapes(t, formattedtoparse.Rule(), head, "net.SplitHostPort", 0, []shape{
		{"func F(c net.Conn) (h string) {\n\th, _, _ = net.SplitHostPort(c.RemoteAddr().String()) @\n\treturn h\n}", "(*net.TCPAddr)"},
	})
	checkShapes(t, formattedtoparse.Rule(), head, "math/big.(*Int).SetString", 0, []shape{
		{"func F(x *big.Int) *big.Int {\n\ty, _ := new(big.Int).SetString(x.String(), 10) @\n\treturn y\n}", "new(big.Int).Set(x)"},
	})
}
