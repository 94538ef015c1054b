package flow_test

import (
	"go/ast"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/diagnose/syntax"
)

const copies = `package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"strings"
)

type keeper struct{ s string }

func (k *keeper) Keep(s string)               { k.s = s }
func (k *keeper) WriteString(s string)        { k.s = s }

var global string

func sinks(n int, b []byte, sb *strings.Builder, bb *bytes.Buffer, bw *bufio.Writer, w io.Writer) {
	b = append(b, strconv.Itoa(n)...) //@ + append
	copy(b, strconv.Itoa(n)) //@ + copy
	sb.WriteString(strconv.Itoa(n)) //@ + builder
	bb.WriteString("x" + strconv.Itoa(n)) //@ + buffer, concatenated
	bw.WriteString((strconv.Itoa(n))) //@ + bufio, parenthesised
	w.Write([]byte(strconv.Itoa(n))) //@ + interface, converted
	io.WriteString(w, strconv.Itoa(n)) //@ + io.WriteString
	fmt.Fprintf(w, "%s", strconv.Itoa(n)) //@ + Fprintf
	log.Printf("%s", strconv.Itoa(n)) //@ + log
	_ = fmt.Sprintf("%s", strconv.Itoa(n)) //@ + Sprintf
	x := strconv.Itoa(n) //@ + a variable
	sb.WriteString(x)
	var y = strconv.Itoa(n) //@ + a var declaration
	sb.WriteString(y)
	line := "a"
	line += strconv.Itoa(n) //@ + a line that is written
	line = line + "b"
	io.WriteString(w, line)
	defer sb.WriteString(strconv.Itoa(n)) //@ + deferred
}

func others(n int, m map[string]int, k *keeper, ch chan string, w io.Writer) (out string, err error) {
	m[strconv.Itoa(n)]++ //@ - key
	k.s = strconv.Itoa(n) //@ - field
	global = strconv.Itoa(n) //@ - global
	k.Keep(strconv.Itoa(n)) //@ - argument
	k.WriteString(strconv.Itoa(n)) //@ - only looks like a writer
	ch <- strconv.Itoa(n) //@ - sent
	_ = []string{strconv.Itoa(n)} //@ - element
	if strconv.Itoa(n) == "x" { //@ - compared
		return
	}
	_ = strconv.Itoa(n)[0] //@ - indexed
	_ = errors.New(strconv.Itoa(n)) //@ - an error
	_ = strconv.Itoa(n) //@ - dropped
	list := []string(nil)
	list = append(list, strconv.Itoa(n)) //@ - appended as an element
	_ = list
	both := strconv.Itoa(n) //@ - written and kept
	io.WriteString(w, both)
	k.s = both
	line := "a" + strconv.Itoa(n) //@ - a line that is returned too
	io.WriteString(w, line)
	if n > 1 {
		return line, nil
	}
	out = strconv.Itoa(n) //@ - a result
	late := strconv.Itoa(n) //@ - captured and kept
	func() { global = late }()
	return "/" + strconv.Itoa(n), nil //@ - returned
}

func main() {
	sinks(0, nil, nil, nil, nil, os.Stdout)
	others(0, nil, nil, nil, nil)
}
`

func TestCopied(t *testing.T) {
	n := 0
	for name, p := range ruletest.Places(t, copies) {
		n++
		how, ok := flow.Copied(p, syntax.CallsOf(p, "strconv.Itoa"))
		if want := name[0] == '+'; ok != want {
			t.Errorf("%s: %t (%s)", name, ok, how)
		}
	}
	if n != 31 {
		t.Errorf("%d places", n)
	}
}

const far = `package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

type keeper struct{ list []string }

func one(n int) string { return strconv.Itoa(n) } //@ + written by the caller

func kept(n int) string { return strconv.Itoa(n) } //@ - the caller keeps it

func value(n int) string { return strconv.Itoa(n) } //@ - used as a value

func all(ns []int) []string {
	list := make([]string, len(ns))
	for i, n := range ns {
		list[i] = strconv.Itoa(n) //@ + an element of a list that is returned
	}
	return list
}

func two(n int) (string, error) {
	return "<" + strconv.Itoa(n), nil //@ + one of two results
}

type texter interface{ text() string }

type number int

func (n number) text() string { return strconv.Itoa(int(n)) } //@ - called through an interface

func set(list []string, n int) { list[0] = strconv.Itoa(n) } //@ - the caller has the list

func use(b *bytes.Buffer, k *keeper, ns []int, t texter) string {
	b.WriteString(one(1))
	k.list = append(k.list, kept(2))
	for _, s := range all(ns) {
		b.WriteString(s)
	}
	text, err := two(3)
	if err == nil {
		b.WriteString(text)
	}
	f := value
	b.WriteString(f(4))
	b.WriteString(t.text())
	quote := func(n int) string { return "'" + strconv.Itoa(n) + "'" } //@ + a function literal
	b.WriteString(quote(5))
	stays := []string{strconv.Itoa(6)} //@ - a list that stays
	k.list = stays
	var parts []string
	parts = append(parts, strconv.Itoa(7)) //@ + joined
	if len(parts) > 0 {
		b.WriteString(strings.Join(parts, ","))
	}
	set(parts, 8)
	once := []string{strconv.Itoa(8)} //@ - used in each iteration
	for range ns {
		b.WriteString(strings.Join(once, ","))
	}
	return strings.Join([]string{strconv.Itoa(9)}, "") //@ + joined, and returned
}

func main() {
	var b bytes.Buffer
	fmt.Println(use(&b, &keeper{}, nil, number(1)))
}
`

func TestCopiedFar(t *testing.T) {
	n := 0
	s, places := ruletest.PlacesIn(t, far)
	for name, p := range places {
		n++
		var made []ast.Expr
		for _, call := range syntax.CallsOf(p, "strconv.Itoa") {
			made = append(made, call)
		}
		how, _, ok := flow.CopiedFar(s, p, made)
		if want := name[0] == '+'; ok != want {
			t.Errorf("%s: %t (%s)", name, ok, how)
		}
	}
	if n != 12 {
		t.Errorf("%d places", n)
	}
}
