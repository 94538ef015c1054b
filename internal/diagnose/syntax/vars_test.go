package syntax_test

import (
	"go/ast"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

const values = `package main

import (
	"bufio"
	"iter"
	"os"
	"strings"
)

var (
	kept    = make([]int, 1)
	changed = make([]int, 2)
)

func use(...any)           {}
func two() (string, error) { return "", nil }

func set() { changed = nil }

func main() {
	if len(os.Args) > 1 {
		use() //@ once
	}
	for range 3 {
		use() //@ in a loop of main
	}
	func() {
		use() //@ in a closure of main
	}()
}

func origins(given string) {
	once := strings.ToUpper(given)
	twice := "a"
	twice = "b"
	first, err := two()
	use(kept)    //@ origin make
	use(changed) //@ origin changed
	use(once)    //@ origin strings.ToUpper
	use(twice)   //@ origin twice
	use(first)   //@ origin two
	use(given)   //@ origin given
	use(err)
}

func loop(s string, list []string, b *strings.Builder) {
	n := 0
	count := 0
	inc := func() { count++ }
	p := &n
	for _, x := range list {
		use(s + "x")     //@ same
		use(len(s) + 1)  //@ same: the length of a string
		use(x)           //@ differs: the loop's own
		use(list[0])     //@ differs: elements
		use(count)       //@ differs: a closure sets it
		use(n)           //@ differs: its address is taken
		use([]byte(s))   //@ same: converted
		use(b.String())  //@ differs: a call
		inc()
	}
	use(p)
}

func branches(a, b int) {
	if a > b {
		use() //@ then
	} else {
		use() //@ else
	}
	switch a {
	case 1:
		use() //@ case 1
	case 2:
		use() //@ case 2
	}
	if b == 0 {
		use() //@ early
		return
	}
	use() //@ late
}

func waits(c chan int, text string, lines iter.Seq[string], list []int, r *bufio.Reader, sc *bufio.Scanner) {
	for range list {
		use() //@ busy
	}
	for range strings.Lines(text) {
		use() //@ busy: ranges over lines
	}
	for range lines {
		use() //@ waits: ranges over what nobody knows
	}
	for range c {
		use() //@ waits: ranges over a channel
	}
	for range list {
		use(<-c) //@ waits: receives
	}
	for range list {
		select {
		case <-c:
		default:
		}
		use() //@ waits: selects
	}
	for sc.Scan() {
		use() //@ waits: scans
	}
	for range list {
		r.ReadByte()
		use() //@ waits: reads
	}
}
`

// used returns the call of use on a place's line.
func used(t *testing.T, p *gocode.Place) *ast.CallExpr {
	t.Helper()
	for _, c := range syntax.Calls(p) {
		if p.CalleeName(c) == "example.com/places.use" {
			return c
		}
	}
	t.Fatal("no call of use")
	return nil
}

func TestValues(t *testing.T) {
	places := ruletest.Places(t, values)
	for name, want := range map[string]bool{"once": false, "in a loop of main": true, "in a closure of main": true, "late": true} {
		if got := loops.PerCall(places[name], used(t, places[name])); got != want {
			t.Errorf("PerCall(%s) = %t", name, got)
		}
	}
	for name, want := range map[string]string{
		"origin make": "make", "origin changed": "", "origin strings.ToUpper": "strings.ToUpper",
		"origin twice": "", "origin two": "example.com/places.two", "origin given": "",
	} {
		p := places[name]
		got := ""
		if call, ok := syntax.Origin(p, used(t, p).Args[0]).(*ast.CallExpr); ok {
			got = p.CalleeName(call)
		}
		if got != want {
			t.Errorf("%s: made by %q, want %q", name, got, want)
		}
	}
	for name, p := range places {
		same, known := map[string]bool{
			"same": true, "same: converted": true, "same: the length of a string": true,
			"differs: the loop's own": false, "differs: elements": false, "differs: a closure sets it": false,
			"differs: its address is taken": false, "differs: a call": false,
		}[name]
		if !known {
			continue
		}
		call := used(t, p)
		if got := loops.Unchanged(p, loops.Around(p, call)[0], call.Args[0]); got != same {
			t.Errorf("Unchanged(%s) = %t", name, got)
		}
	}
}

func TestExclusive(t *testing.T) {
	places := ruletest.Places(t, values)
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"then", "else", true},
		{"case 1", "case 2", true},
		{"early", "late", true},
		{"late", "early", true},
		{"then", "case 1", false},
		{"case 2", "late", false},
	} {
		p := places[c.a]
		if got := syntax.Exclusive(p, used(t, p), used(t, places[c.b])); got != c.want {
			t.Errorf("Exclusive(%s, %s) = %t", c.a, c.b, got)
		}
	}
}

func TestWaits(t *testing.T) {
	for name, p := range ruletest.Places(t, values) {
		var want bool
		switch {
		case strings.HasPrefix(name, "busy"):
		case strings.HasPrefix(name, "waits"):
			want = true
		default:
			continue
		}
		loop := loops.Repeating(p, used(t, p))
		if loop == nil {
			t.Errorf("%s: no loop", name)
			continue
		}
		if got := loops.Waits(p, loop); got != want {
			t.Errorf("Waits(%s) = %t", name, got)
		}
	}
}

func TestTypeName(t *testing.T) {
	for profile, want := range map[string]string{
		"fmt.Sprintf":                         "fmt.Sprintf",
		"strings.(*Replacer).Replace":         "(*strings.Replacer).Replace",
		"time.Time.Format":                    "(time.Time).Format",
		"net/http.Header.Get":                 "(net/http.Header).Get",
		"net/http.(*Client).Do":               "(*net/http.Client).Do",
		"slices.Index[...]":                   "slices.Index",
		"example.com/a.b/c.(*T).M":            "(*example.com/a.b/c.T).M",
		"gopkg.in/yaml%2ev3.(*Decoder).Parse": "(*gopkg.in/yaml.v3.Decoder).Parse",
		"log.(*Logger).Print*":                "(*log.Logger).Print*",
	} {
		if got := funcname.Typed(profile); got != want {
			t.Errorf("TypeName(%q) = %q, want %q", profile, got, want)
		}
	}
}
