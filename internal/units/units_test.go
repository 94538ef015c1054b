package units_test

import (
	"testing"

	"github.com/hone-go/hone/internal/units"
)

func TestWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{units.Percent(0), "0 %"}, {units.Percent(0.0004), "0.04 %"}, {units.Percent(0.072), "7.2 %"}, {units.Percent(0.34), "34 %"}, {units.Percent(0.0996), "10 %"},
		{units.Bytes(208), "208 B"}, {units.Bytes(1536), "1.5 KiB"}, {units.Bytes(1023.9 * 1024), "1.0 MiB"}, {units.Bytes(36 << 30), "36 GiB"},
		{units.Number(46.2), "46"}, {units.Number(2.31), "2.3"}, {units.Number(0.25), "0.25"}, {units.Number(0), "0"},
		{units.Number(0.000028), "0.000028"}, {units.Number(-0.04), "-0.04"}, {units.Number(0.094), "0.094"},
		{units.Seconds(1.2), "1.2 s"}, {units.Seconds(0.035), "35 ms"}, {units.Seconds(8e-6), "8 µs"}, {units.Seconds(3e-8), "30 ns"},
		{units.Some(1, "object"), "1 object"}, {units.Some(0.996, "object"), "1 object"}, {units.Some(2.34, "object"), "2.3 objects"}, {units.Some(0, "sample"), "0 samples"},
		{units.Count(0), "0"}, {units.Count(999), "999"}, {units.Count(1048576), "1,048,576"}, {units.Count(-1000), "-1,000"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
