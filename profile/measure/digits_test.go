package measure_test

import (
	"testing"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/report"
)

// TestFiguresKeepThreeDigits has a profile of hours with rows of seconds and minutes, which pprof
// prints as 0.03hrs.
func TestFiguresKeepThreeDigits(t *testing.T) {
	const second = 1_000_000_000
	for _, c := range []struct {
		least, total, value int64
		unit, want          string
	}{
		{95 * second, 9000 * second, 95 * second, "s", "95s"},
		{95 * second, 9000 * second, 8123456789, "s", "8.12s"},
		{3600 * second, 360000 * second, 9000 * second, "hrs", "2.50hrs"},
		{31234567, 9 * second, 31234567, "s", "0.0312s"},
		{80_000_000, 9 * second, 80_000_000, "s", "0.08s"},
		{80_000_000, 9 * second, -31234567, "s", "-0.0312s"},
		{80_000_000, 9 * second, 0, "s", "0"},
	} {
		v := &report.View{Total: c.total, SampleType: profile.ValueType{Type: "cpu", Unit: "nanoseconds"}}
		unit := v.ReadableUnit(c.least)
		if got := v.Readable(c.value, unit); unit != c.unit || got != c.want {
			t.Errorf("%d ns of %d, least %d: %s in %s, want %s in %s", c.value, c.total, c.least, got, unit, c.want, c.unit)
		}
	}
}
