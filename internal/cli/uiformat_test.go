package cli

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"testing"
)

// This file writes figures as the pages do, a second time, so that a test can say what a page must
// show of a command's JSON.

// jsonValue is a value of a command's JSON; the zero value stands for one that is not there.
type jsonValue struct{ v any }

func parsedJSON(t *testing.T, text string) jsonValue {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %.300s", err, text)
	}
	return jsonValue{v}
}

func (j jsonValue) at(names ...string) jsonValue {
	for _, name := range names {
		m, _ := j.v.(map[string]any)
		j = jsonValue{m[name]}
	}
	return j
}

func (j jsonValue) index(i int) jsonValue {
	if all := j.list(); i < len(all) {
		return all[i]
	}
	return jsonValue{}
}

func (j jsonValue) list() (out []jsonValue) {
	all, _ := j.v.([]any)
	for _, v := range all {
		out = append(out, jsonValue{v})
	}
	return out
}

func (j jsonValue) is() bool                 { return j.v != nil }
func (j jsonValue) num(at ...string) float64 { n, _ := j.at(at...).v.(float64); return n }
func (j jsonValue) str(at ...string) string  { s, _ := j.at(at...).v.(string); return s }

// rounded writes a number with that many digits after the point; halves are rounded up, as
// JavaScript does.
func rounded(x float64, places int) string {
	r := new(big.Rat).SetFloat64(x)
	sign := ""
	if x < 0 {
		sign = "-"
		r.Neg(r)
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)
	r.Mul(r, new(big.Rat).SetInt(scale)).Add(r, big.NewRat(1, 2))
	n := new(big.Int).Div(r.Num(), r.Denom()).String()
	if len(n) <= places {
		n = strings.Repeat("0", places+1-len(n)) + n
	}
	if places > 0 {
		n = n[:len(n)-places] + "." + n[len(n)-places:]
	}
	return sign + n
}

func shownDigits(x float64) string {
	a := max(x, -x)
	switch {
	case a == 0:
		return "0"
	case a >= 100:
		n := rounded(a, 0)
		for i := len(n) - 3; i > 0; i -= 3 {
			n = n[:i] + "," + n[i:]
		}
		if x < 0 {
			n = "-" + n
		}
		return n
	}
	places := 2 // so that three digits count
	for limit := 10.0; a >= limit; limit *= 10 {
		places--
	}
	for limit := 1.0; a < limit && places < 12; limit /= 10 {
		places++
	}
	s := rounded(x, places)
	if strings.Contains(s, ".") {
		s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	}
	return s
}

func shownNanoseconds(ns float64) string {
	switch a := max(ns, -ns); {
	case a == 0:
		return "0 s"
	case a >= 1e9:
		return shownDigits(ns/1e9) + " s"
	case a >= 1e6:
		return shownDigits(ns/1e6) + " ms"
	case a >= 1e3:
		return shownDigits(ns/1e3) + " µs"
	}
	return shownDigits(ns) + " ns"
}

func shownSeconds(s float64) string { return shownNanoseconds(s * 1e9) }

func shownBytes(b float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for ; max(b, -b) >= 1024 && i < len(units)-1; i++ {
		b /= 1024
	}
	return shownDigits(b) + " " + units[i]
}

func shownPercent(share float64) string {
	p := 100 * share
	if max(p, -p) >= 10 {
		return rounded(p, 0) + " %"
	}
	return rounded(p, 1) + " %"
}

func shownQuantity(x float64, unit string) string {
	switch unit {
	case "nanoseconds":
		return shownNanoseconds(x)
	case "seconds":
		return shownSeconds(x)
	case "bytes":
		return shownBytes(x)
	}
	return shownDigits(x)
}

func shownLine(x jsonValue) string { return strconv.Itoa(int(x.num("line"))) }

func baseName(file string) string { return file[strings.LastIndex(file, "/")+1:] }

// TestShownFigures checks the figures that are easily written wrong.
func TestShownFigures(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 99.96: "100", 10: "10", 20.04: "20", 0.9996: "1", 1234567.5: "1,234,568", 0.00123456: "0.00123", -3.14159: "-3.14", 100: "100", 9.996: "10"} {
		if got := shownDigits(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
	for x, want := range map[float64]string{0.0125: "1.3 %", 0.0996: "10.0 %", 0.5: "50 %", -0.021: "-2.1 %"} {
		if got := shownPercent(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
}
