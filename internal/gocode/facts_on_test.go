package gocode

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestFactsOn: a closure that exists only inlined has its reasons on its own line.
func TestFactsOn(t *testing.T) {
	dir := unpack(t, `
-- go.mod --
module example.com/closures
go 1.26
-- c.go --
package closures

var kept []byte

func each(n int, f func()) {
	for range n {
		f()
	}
}

func own(n int) []byte { return make([]byte, n) }

func F(n int) {
	each(n, func() {
		kept = make([]byte, n) // closure
	})
	kept = own(n)
}
`)
	x, err := Open(t.Context(), Config{Dir: dir, CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	f, err := x.Facts(t.Context(), []string{"example.com/closures"})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "c.go")
	line := lineOf(t, file, "// closure")
	facts := f.On(file, line)
	if len(facts) != 1 || facts[0].Message != "make([]byte, n) escapes to heap" || len(facts[0].Chain) != 1 || facts[0].Chain[0].Line != line {
		t.Errorf("closure: %+v", facts)
	}
	if _, text := facts[0].Words(); strings.Contains(text, "inlined") {
		t.Errorf("the line is its own place: %s", text)
	}
	// What the compiler says about a function is not mixed with what it says where the function is
	// inlined.
	own := lineOf(t, file, "func own")
	var escapes int
	for _, fact := range f.On(file, own) {
		if fact.Code == "escape" {
			escapes++
		}
	}
	if escapes != 1 {
		t.Errorf("own: %+v", f.On(file, own))
	}
	if facts := f.On(file, 999); len(facts) != 0 {
		t.Errorf("no such line: %+v", facts)
	}
}
