package leakgrowth

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestMakes: the types that a line makes, also in a package variable's initialiser.
func TestMakes(t *testing.T) {
	places := ruletest.Places(t, `package main

type table struct{ run func() *entry }

type entry struct{ key string }

var service = table{
	run: func() *entry {
		return &entry{"a"} //@ variable
	},
}

func add() *entry {
	e := &entry{"b"} //@ function
	return e
}

func main() { service.run(); add() }
`)
	for _, name := range []string{"variable", "function"} {
		p, found := places[name], false
		for _, n := range makes(p) {
			found = found || n.Obj().Name() == "entry"
		}
		if !found {
			t.Errorf("%s: not found", name)
		}
	}
}
