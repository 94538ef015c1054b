package loops_test

import (
	"go/ast"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

const attempts = `package main

import "time"

type page struct {
	items []int
	next  string
	done  bool
}

func ask(key string) (page, error) { return page{}, nil }
func at(n int) (page, error)       { return page{}, nil }

func retried(key string) (last error) {
	for i := 0; i < 3; i++ {
		p, err := ask(key) //@ again 1
		if err == nil && p.items != nil {
			return nil
		}
		last = err
		time.Sleep(time.Second)
	}
	return last
}

func continued(key string) {
	for range 3 {
		_, err := ask(key + "/") //@ again 2
		if err != nil {
			time.Sleep(time.Second)
			continue
		}
		return
	}
}

func polled(key string) error {
	for {
		id := key + "/state"
		p, err := ask(id) //@ again 3
		if err != nil {
			return err
		}
		if p.done {
			break
		}
		time.Sleep(time.Second)
	}
	return nil
}

func each(keys []string) error {
	for _, key := range keys {
		if _, err := ask(key); err != nil { //@ items 4
			return err
		}
	}
	for i := 0; i < len(keys); i++ {
		p, err := ask(keys[i]) //@ items 5
		if err != nil || p.done {
			return err
		}
	}
	return nil
}

func paged() {
	cursor := ""
	for {
		p, err := ask(cursor) //@ cursor 6
		if err != nil || p.next == "" {
			return
		}
		cursor = p.next
	}
}

func numbered() {
	for n := 0; ; n++ {
		p, _ := at(n) //@ number 7
		if p.done {
			return
		}
	}
}

func paced(key string) error {
	for range 100 {
		p, err := ask(key) //@ load 8
		if err != nil {
			return err
		}
		_ = p
	}
	return nil
}

func main() {}
`

// TestTriesAgain: the same call until its answer ends the loop.
func TestTriesAgain(t *testing.T) {
	for mark, p := range ruletest.Places(t, attempts) {
		for _, call := range p.Calls() {
			if fn := p.Callee(call); fn == nil || fn.Name() != "ask" && fn.Name() != "at" {
				continue
			}
			loop := loops.Around(p, ast.Node(call))[0]
			if got, want := loops.TriesAgain(p, loop, call), strings.HasPrefix(mark, "again"); got != want {
				t.Errorf("line %d (%s): %t", p.Line, mark, got)
			}
		}
	}
}
