package syntax_test

import (
	"slices"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/diagnose/syntax"
)

// TestOffered: exported functions and boolean fields count, and nothing else.
func TestOffered(t *testing.T) {
	places := ruletest.Places(t, `package main

type Config struct {
	PoolWriters bool
	PoolSize    int
	poolReaders bool
}

type config struct{ PoolAll bool }

type Pool struct{}

func NewPool() *Pool { return nil }

func newPool() *Pool { return nil }

func main() {
	println(newPool(), NewPool(), Config{poolReaders: true}.poolReaders, config{}.PoolAll) //@ here
}
`)
	if got, want := syntax.Offered(places["here"], "Pool"), []string{"Config.PoolWriters", "NewPool"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
