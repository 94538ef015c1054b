package main

import (
	"strings"
	"testing"
)

func TestAnswers(t *testing.T) {
	for n, want := range map[int]string{
		0:    "0 words, 0 letters at most\n",
		1:    "denkö 1\nköluso 1\nlubamar 1\nmarkömar 1\nmarrino 1\n13 words, 78 letters at most\n",
		2000: "nono 259\nnopé 210\nnomar 208\nmarno 205\nmarpé 186\n2282 words, 97 letters at most\n",
	} {
		var out strings.Builder
		if err := run(&out, n); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("%d sentences: %q, want %q", n, out.String(), want)
		}
	}
}
