package symbol_test

import (
	"testing"

	"github.com/hone-go/hone/profile/symbol"
)

func TestBare(t *testing.T) {
	for name, want := range map[string]string{
		"strings.Index": "strings.Index",
		"a/b.(*Cache[go.shape.string,go.shape.*uint8]).Get": "a/b.(*Cache).Get",
		"a/b.Tree[go.shape.map[string][]int].Walk.func1":    "a/b.Tree.Walk.func1",
		"(*a/b.Cache[K, V]).Get":                            "(*a/b.Cache).Get",
		"slices.Index[...]":                                 "slices.Index",
		"a]b[":                                              "ab",
	} {
		if got := symbol.Bare(name); got != want {
			t.Errorf("Bare(%q) = %q, want %q", name, got, want)
		}
	}
}
