package filenotclosed

import (
	"fmt"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/diagnose/syntax"
)

// TestOurs: calls that open something which their function has to close, and others.
func TestOurs(t *testing.T) {
	const program = `package main

import (
	"bufio"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
)

type reader struct{ f *os.File }

func use(f *os.File) { kept = f }

var kept *os.File

func parse(f io.Reader) (n int) {
	for s := bufio.NewScanner(f); s.Scan(); {
		n++
	}
	return n
}

func finish(f *os.File) error { return f.Close() }

func files(name string) (io.Reader, *os.File, error) {
	a, err := os.Open(name) //@ ours
	if err != nil {
		return nil, nil, err
	}
	io.Copy(io.Discard, bufio.NewReader(a))
	b, err := os.Create(name) //@ returned
	c, err := os.CreateTemp("", name) //@ passed
	use(c)
	d, err := os.OpenFile(name, 0, 0) //@ stored
	r := &reader{d}
	e, err := net.Dial("tcp", name) //@ ours
	io.WriteString(e, "hello")
	f, err := net.DialTCP("tcp", nil, nil) //@ ours
	go func() { f.Close() }()
	g, err := os.Create(name) //@ of a command
	cmd := exec.Command("ls")
	cmd.Stdout = g
	i, err := os.Open(name) //@ ours
	parse(i)
	j, err := os.Open(name) //@ closed by the function that gets it
	finish(j)
	h := os.NewFile(3, name) //@ open already
	log.SetOutput(h)
	_ = r
	return nil, b, err
}

func main() { files("") }
`
	p, names := ruletest.MadeUp(t, program)
	for _, s := range p.Table.Sites {
		want := names[s.Line]
		if want == "" {
			continue
		}
		place, got := p.Place(s), false
		for _, call := range syntax.Calls(place) {
			if v := syntax.Result(place, call); opens(place.Callee(call)) && v != nil {
				_, _, got = flow.Closing(place, call, v)
			}
		}
		if got != (want == "ours") {
			t.Errorf("line %d: %s, want %q", s.Line, fmt.Sprint(got), want)
		}
	}
}
