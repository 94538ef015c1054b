package flow_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/diagnose/syntax"
)

const drops = `package main

import "fmt"

type part struct {
	name string
	data []byte
}

type object struct {
	name  string
	parts []*part
}

func create(n int) *object { return &object{} }

func (o *object) first() *part { return o.parts[0] }

func (o *object) keep(k *keeper) { k.p = o.parts[0] }

type keeper struct {
	p     *part
	names []string
	data  []byte
	f     func() string
}

type sink interface{ Take(*object) }

func size(p *part) int { return len(p.data) }

func same(p *part) *part { return p }

func uses(k *keeper, s sink, ch chan *object) *part {
	a := create(1) //@ + read
	for _, p := range a.parts {
		k.names = append(k.names, p.name)
	}
	b := create(2) //@ + a part is passed
	if size(b.first()) > 1 {
		fmt.Println(b.name)
	}
	c := create(3) //@ - a part is kept
	k.p = c.first()
	d := create(4) //@ - a part of a part is kept
	k.data = d.parts[0].data
	e := create(5) //@ + bytes are copied
	k.data = append(k.data, e.parts[0].data...)
	f := create(6) //@ - a method keeps a part
	f.keep(k)
	g := create(7) //@ - passed through an interface
	s.Take(g)
	h := create(8) //@ - sent
	ch <- h
	i := create(9) //@ - captured
	k.f = func() string { return i.name }
	j := create(10) //@ + a local copy of a part
	q := same(j.first())
	fmt.Println(string(q.data))
	l := create(11) //@ - a part is returned
	return same(l.first())
}

func main() { uses(&keeper{}, nil, nil) }
`

func TestDropped(t *testing.T) {
	n := 0
	for name, p := range ruletest.Places(t, drops) {
		n++
		if got, want := flow.Dropped(p, syntax.CallsOf(p, "example.com/places.create")[0]), name[0] == '+'; got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if n != 11 {
		t.Errorf("%d places", n)
	}
}
