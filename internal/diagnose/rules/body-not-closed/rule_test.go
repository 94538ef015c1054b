package bodynotclosed

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/covdata"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/diagnose/syntax"
)

// TestLeavesOpen: a function that returns the response leaves it open on another path, if that
// path ran; one that never ran leaves nothing open.
func TestLeavesOpen(t *testing.T) {
	const program = `package main

import (
	"errors"
	"net/http"
)

func do(c *http.Client, req *http.Request) (*http.Response, error) {
	resp, err := c.Do(req) //@ do
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New(resp.Status)
	}
	return resp, nil
}

func closed(c *http.Client, req *http.Request) (*http.Response, error) {
	resp, err := c.Do(req) //@ closed
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, errors.New(resp.Status)
	}
	return resp, nil
}

func read(c *http.Client, req *http.Request) int {
	resp, err := c.Do(req) //@ read
	if err != nil {
		return 0
	}
	return resp.StatusCode
}

func main() {
	do(nil, nil)
	closed(nil, nil)
	read(nil, nil)
}
`
	for _, test := range []struct {
		name   string
		counts uint64 // of all lines; 0: they never ran
		want   string
	}{
		{"do", 100, "returns on line 14 without closing the body"},
		{"do", 0, ""},
		{"closed", 100, ""},
		{"read", 100, "returns on line 36 without closing the body"},
	} {
		p, names := ruletest.MadeUp(t, program)
		meta := &covdata.Meta{Packages: []covdata.Package{{Path: "example.com/madeup", Funcs: []covdata.Func{{
			Name: "f", File: "example.com/madeup/main.go", Blocks: []covdata.Block{{StartLine: 1, StartColumn: 1, EndLine: 45, EndColumn: 1}},
		}}}}}
		p.Counts = counts.New(meta, []counts.Window{{Units: 100, Counts: covdata.Counts{{{test.counts}}}}})
		for _, s := range p.Table.Sites {
			if names[s.Line] != test.name {
				continue
			}
			place := p.Place(s)
			got := leaves(p, place, syntax.Calls(place)[0])
			if (got == "") != (test.want == "") || !strings.HasPrefix(got, test.want) {
				t.Errorf("%s, %d: %q, want %q", test.name, test.counts, got, test.want)
			}
		}
	}
}
