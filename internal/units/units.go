package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Percent writes a share: "7.2 %", "34 %", "0.04 %".
func Percent(share float64) string {
	p := share * 100
	switch a := math.Abs(p); {
	case a == 0:
		return "0 %"
	case a < 0.1:
		return strconv.FormatFloat(p, 'g', 1, 64) + " %"
	case a < 9.95:
		return fmt.Sprintf("%.1f %%", p)
	}
	return fmt.Sprintf("%.0f %%", p)
}

// Bytes writes a size in binary units: "208 B", "1.5 KiB", "36 GiB".
func Bytes(n float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for math.Abs(n) >= 1023.5 && i < len(units)-1 {
		n /= 1024
		i++
	}
	if i == 0 || math.Abs(n) >= 9.95 {
		return fmt.Sprintf("%.0f %s", n, units[i])
	}
	return fmt.Sprintf("%.1f %s", n, units[i])
}

// Number formats a quantity with two or three significant digits: "46", "2.3", "0.25".
func Number(x float64) string {
	switch a := math.Abs(x); {
	case a == 0:
		return "0"
	case a >= 9.95:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case a >= 0.95:
		return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
	}
	digits := 1 - int(math.Floor(math.Log10(math.Abs(x)))) // two of them after the zeros
	return strings.TrimRight(strconv.FormatFloat(x, 'f', digits, 64), "0")
}

// Seconds writes a time: "1.2 s", "35 ms", "8 µs".
func Seconds(s float64) string {
	switch a := math.Abs(s); {
	case a == 0:
		return "0 s"
	case a >= 0.9995:
		return Number(s) + " s"
	case a >= 0.9995e-3:
		return Number(s*1e3) + " ms"
	case a >= 0.9995e-6:
		return Number(s*1e6) + " µs"
	}
	return Number(s*1e9) + " ns"
}

// Count formats an integer with thousands separators: "1,048,576".
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		s, sign = s[1:], "-"
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Some formats a number of things, with the noun in singular or plural: "1 object", "2.3 objects".
func Some(n float64, noun string) string {
	text := Number(n)
	if text != "1" {
		noun += "s"
	}
	return text + " " + noun
}
