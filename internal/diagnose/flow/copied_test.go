package flow_test

import (
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
