package render

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// percent formats a share with two significant digits below 10 %: 0.7 %, 12 %.
func percent(share float64) string {
	p := share * 100
	switch {
	case math.IsNaN(p) || math.IsInf(p, 0):
		return "?"
	case math.Abs(p) < 9.95:
		return fmt.Sprintf("%.1f %%", p)
	}
	return fmt.Sprintf("%.0f %%", p)
}

// span formats an interval of shares: "6–9 %", "0.6–1.4 %". It says so if the interval is infinite.
func span(low, high float64) string {
	if math.IsInf(low, 0) || math.IsInf(high, 0) || math.IsNaN(low+high) {
		return "unbounded"
	}
	l, h := strings.TrimSuffix(percent(low), " %"), percent(high)
	if math.Abs(low) >= 0.0995 || math.Abs(high) >= 0.0995 {
		l, h = fmt.Sprintf("%.0f", low*100), fmt.Sprintf("%.0f %%", high*100)
	}
	return l + "–" + h
}

// seconds formats a time with three significant digits: 98.1 µs, 1.25 s.
func seconds(s float64) string {
	abs := math.Abs(s)
	switch {
	case abs == 0:
		return "0 s"
	case abs < 1e-6:
		return significant(s*1e9) + " ns"
	case abs < 1e-3:
		return significant(s*1e6) + " µs"
	case abs < 1:
		return significant(s*1e3) + " ms"
	}
	return significant(s) + " s"
}

// size formats a size in the units of GOMEMLIMIT, powers of 1024, with three significant digits.
func size(b float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for math.Abs(b) >= 999.5 && i < len(units)-1 {
		b /= 1024
		i++
	}
	if i == 0 {
		return fmt.Sprintf("%.0f B", b)
	}
	return significant(b) + " " + units[i]
}

// significant formats three significant digits, never in scientific notation.
func significant(x float64) string {
	abs := math.Abs(x)
	switch {
	case abs >= 99.95:
		return group(x)
	case abs >= 9.995:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// group formats a whole number with thousands separators: 12,400.
func group(x float64) string {
	s := strconv.FormatFloat(math.Abs(x), 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if x < 0 && s != "0" {
		s = "-" + s
	}
	return s
}

// plural prints "1 finding", "2 findings".
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}
