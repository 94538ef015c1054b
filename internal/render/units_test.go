package render

import (
	"math"
	"testing"
)

func TestUnits(t *testing.T) {
	for _, tc := range []struct{ got, want string }{
		{percent(0.0072), "0.7 %"},
		{percent(0.0994), "9.9 %"},
		{percent(0.0996), "10 %"},
		{percent(0.345), "34 %"},
		{span(0.006, 0.014), "0.6–1.4 %"},
		{span(0.09, 0.14), "9–14 %"},
		{span(math.Inf(-1), 0.9), "unbounded"},
		{seconds(98.12e-6), "98.1 µs"},
		{seconds(0.00125), "1.25 ms"},
		{seconds(0), "0 s"},
		{seconds(12.345), "12.3 s"},
		{seconds(3e-9), "3.00 ns"},
		{size(0), "0 B"},
		{size(999), "999 B"},
		{size(8921), "8.71 KiB"},
		{size(118 << 20), "118 MiB"},
		{group(12400), "12,400"},
		{group(-1234567), "-1,234,567"},
		{group(999), "999"},
		{signedPercent(-0.31), "−31 %"},
		{signedPercent(0.12), "+12 %"},
		{plural(1, "core"), "1 core"},
		{plural(2, "core"), "2 cores"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}

func TestWrap(t *testing.T) {
	got := wrap("one two three four", "  ", 10)
	if want := "one two\n  three\n  four"; got != want {
		t.Errorf("wrap: %q, want %q", got, want)
	}
	if got, want := wrap("takes 2.3 %, at most 4 %", "", 9), "takes\n2.3 %, at\nmost 4 %"; got != want {
		t.Errorf("a number and its unit stay together: %q, want %q", got, want)
	}
}

func TestTable(t *testing.T) {
	got := table([][]string{{"a", "1"}, {"bcd", "1,000"}}, "  ", 1)
	want := []string{"a        1", "bcd  1,000"}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d: %q, want %q", i, got[i], want[i])
		}
	}
}
