package main

import (
	"strings"
	"testing"
)

func TestRunIsRepeatable(t *testing.T) {
	var first, second, other strings.Builder
	for out, seed := range map[*strings.Builder]uint64{&first: 1, &second: 1, &other: 2} {
		if err := run(out, 3, 5, seed); err != nil {
			t.Fatal(err)
		}
	}
	if first.String() != second.String() {
		t.Errorf("one seed, two results:\n%s\n%s", &first, &second)
	}
	if first.String() == other.String() {
		t.Errorf("two seeds, one result:\n%s", &first)
	}
	if got := strings.Count(first.String(), "\n"); got != 1+5+5 {
		t.Errorf("%d lines, want 11:\n%s", got, &first)
	}
}

func TestRunNothing(t *testing.T) {
	var out strings.Builder
	if err := run(&out, 0, 5, 1); err != nil {
		t.Fatal(err)
	}
	if want := "0 pages, 0 words, 0 different, 0 pairs\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
