package measure

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// unit is one unit of a kind, with the number of base units that it holds.
type unit struct {
	label   string
	factor  float64
	aliases []string // singular, lower case
}

// unitKind is a set of units that convert into each other, smallest first.
type unitKind struct {
	units    []unit
	fallback unit // for values smaller than every unit
}

// unitKinds returns the units that pprof knows (internal/measurement there): bytes in powers of
// 1024, time, and Google's compute units.
func unitKinds() [3]unitKind {
	s := unit{"s", float64(time.Second), []string{"s", "sec", "second"}}
	b := unit{"B", 1, []string{"b", "byte"}}
	gcu := unit{"GCU", 1, []string{"gcu"}}
	return [3]unitKind{
		{units: []unit{b,
			{"kB", 1 << 10, []string{"kb", "kbyte", "kilobyte"}},
			{"MB", 1 << 20, []string{"mb", "mbyte", "megabyte"}},
			{"GB", 1 << 30, []string{"gb", "gbyte", "gigabyte"}},
			{"TB", 1 << 40, []string{"tb", "tbyte", "terabyte"}},
			{"PB", 1 << 50, []string{"pb", "pbyte", "petabyte"}},
		}, fallback: b},
		{units: []unit{
			{"ns", float64(time.Nanosecond), []string{"ns", "nanosecond"}},
			{"us", float64(time.Microsecond), []string{"μs", "us", "microsecond"}},
			{"ms", float64(time.Millisecond), []string{"ms", "millisecond"}},
			s,
			{"hrs", float64(time.Hour), []string{"hour", "hr"}},
		}, fallback: s},
		{units: []unit{
			{"n*GCU", 1e-9, []string{"nanogcu"}},
			{"u*GCU", 1e-6, []string{"microgcu"}},
			{"m*GCU", 1e-3, []string{"milligcu"}},
			gcu,
			{"k*GCU", 1e3, []string{"kilogcu"}},
			{"M*GCU", 1e6, []string{"megagcu"}},
			{"G*GCU", 1e9, []string{"gigagcu"}},
			{"T*GCU", 1e12, []string{"teragcu"}},
			{"P*GCU", 1e15, []string{"petagcu"}},
		}, fallback: gcu},
	}
}

// find returns the unit with a name: in upper or lower case, singular or plural.
func (k *unitKind) find(name string) (unit, bool) {
	name = strings.ToLower(name)
	if utf8.RuneCountInString(name) > 2 { // "us" and "ms" are not plurals
		name = strings.TrimSuffix(name, "s")
	}
	for _, u := range k.units {
		for _, alias := range u.aliases {
			if alias == name {
				return u, true
			}
		}
	}
	return unit{}, false
}

// fit returns the largest unit in which v, given in base units, is at least 1.
func (k *unitKind) fit(v float64) unit {
	for i := len(k.units) - 1; i >= 0; i-- {
		if v >= k.units[i].factor {
			return k.units[i]
		}
	}
	return k.fallback
}

// Scale converts a value to another unit and returns that unit's label, as `go tool pprof` does. If
// to is "auto" or "minimum", the unit is the largest in which the value is at least 1. Values in
// unknown units are not converted: the label is then to, or empty for plain counts.
func Scale(value int64, from, to string) (float64, string) {
	if value < 0 && -value > 0 { // math.MinInt64 cannot be negated
		v, label := Scale(-value, from, to)
		return -v, label
	}
	auto := to == "auto" || to == "minimum"
	for _, k := range unitKinds() {
		u, ok := k.find(from)
		if !ok {
			continue
		}
		v := float64(value) * u.factor
		target := k.fallback
		if auto {
			target = k.fit(v)
		} else if t, ok := k.find(to); ok {
			target = t
		}
		return v / target.factor, target.label
	}
	switch to {
	case "count", "sample", "unit", "auto", "minimum":
		return float64(value), ""
	}
	return float64(value), to
}

// Format prints a value of unit from in unit to ("auto": the one that fits): "1.20s", "12.50MB",
// "3", "0". It prints two decimals, or none for whole numbers.
func Format(value int64, from, to string) string {
	v, label := Scale(value, from, to)
	s := strings.TrimSuffix(fmt.Sprintf("%.2f", v), ".00")
	if s == "0" || s == "-0" {
		return "0"
	}
	return s + label
}

// FormatSmall is Format, but prints values below one unit with three significant digits, without
// trailing zeros after the second decimal.
func FormatSmall(value int64, from, to string) string {
	v, label := Scale(value, from, to)
	size := abs(v)
	if size == 0 || size >= 1 {
		return Format(value, from, to)
	}
	decimals := 2 - int(math.Floor(math.Log10(size)))
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	for decimals > 2 && strings.HasSuffix(s, "0") {
		s, decimals = strings.TrimSuffix(s, "0"), decimals-1
	}
	return s + label
}

// Percent prints value/total without its sign, as pprof's tables do: "12.34%", " 0.5%", "  100%".
func Percent(value, total int64) string {
	var percent float64
	if total != 0 {
		percent = 100 * abs(float64(value)/float64(total))
	}
	switch {
	case percent >= 99.95 && percent <= 100.05:
		return "  100%"
	case percent >= 1:
		return fmt.Sprintf("%5.2f%%", percent)
	}
	return fmt.Sprintf("%5.2g%%", percent)
}

// Common returns the unit for values from least to total: one that fits least, or a larger one if
// total is more than a hundred times that.
func Common(least, total int64, from string) string {
	_, label := Scale(least, from, "minimum")
	if _, largest := Scale(total, from, "minimum"); label != largest && least*100 < total {
		_, label = Scale(100*least, from, "minimum")
	}
	if label == "" {
		return from
	}
	return label
}

func abs[T int64 | float64](v T) T { return max(v, -v) }
