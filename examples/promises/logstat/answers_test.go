package main

import (
	"strings"
	"testing"
)

func TestAnswers(t *testing.T) {
	for _, tc := range []struct {
		text, want string
	}{
		{string(generate(20)), "       0      564 µs\n  711193      501 µs\n8 requests\n"},
		{"10 start 7\n20 start 9\n25 end 9\n26 end 8\n30 end 7\n", "       9        5 µs\n2 requests\n"},
		{"", "0 requests\n"},
	} {
		var out strings.Builder
		if err := run(&out, []byte(tc.text)); err != nil {
			t.Fatal(err)
		}
		if out.String() != tc.want {
			t.Errorf("%q: %q, want %q", tc.text, out.String(), tc.want)
		}
	}
	for _, text := range []string{"1 start\n", "x start 1\n", "1 start x\n"} {
		if err := run(&strings.Builder{}, []byte(text)); err == nil {
			t.Errorf("%q is not a log, and was read", text)
		}
	}
}
