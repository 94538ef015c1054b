// Package tracetext writes execution traces from text, so that a test can specify, event by event,
// what a trace contains, including errors.
//
// A line is a statement; # starts a comment.
//
//	trace 26                     the version of the format
//	generation 1 freq=1000000000 starts a generation; the frequency is optional
//	thread 7 time=100            starts a batch; "none" means no thread
//	GoCreate dt=5 new_g=2 new_stack="main.work a.go:3"
//	                             an event: its arguments by name, in any order; missing
//	                             ones are 0, and dt is 1
//	CPUSample time=120 m=7 p=0 g=2
//	bytes 0a ff                  adds bytes to the batch
//	open                         the generation has no tables and no end
//	table Strings 05 01          a batch of a table, given as bytes
//	cut 3                        removes the last bytes of the trace
//
// Where an event has a string or a stack as an argument, it may be quoted: it is then added to the
// tables of its generation. The frames of a stack are leaf first, each "func file:line", separated
// by ";".
//
// Every generation starts with its clock (at its first time) and ends with its tables.
package tracetext

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hone-go/hone/exectrace/internal/wire"
)

// Assemble writes the trace that text describes.
func Assemble(text string) ([]byte, error) {
	a := &assembler{freq: 1e9}
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		if err := a.line(lines.Text()); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	a.endGeneration()
	return a.out[:max(0, len(a.out)-a.cut)], nil
}

type assembler struct {
	version int
	out     []byte
	cut     int

	gen     uint64
	freq    uint64
	open    bool // no tables at the end
	thread  uint64
	time    uint64
	batch   []byte
	samples []byte
	tables  [][]byte
	strings []string
	stacks  []string
}

// typeOf returns the type of an event by name.
func typeOf(name string) (wire.Type, bool) {
	for t, s := range wire.Specs {
		if s.Name == name && name != "" {
			return wire.Type(t), true
		}
	}
	return 0, false
}

func (a *assembler) line(line string) error {
	words, err := split(line)
	if err != nil || len(words) == 0 {
		return err
	}
	if a.version == 0 && words[0] != "trace" {
		return fmt.Errorf("the first statement is %q, not trace", words[0])
	}
	switch words[0] {
	case "trace":
		a.version, err = strconv.Atoi(arg(words, 1))
		a.out = wire.Header(a.version)
		return err
	case "generation":
		return a.generation(words)
	case "thread":
		return a.beginBatch(words)
	case "bytes":
		b, err := hex.DecodeString(strings.Join(words[1:], ""))
		a.batch = append(a.batch, b...)
		return err
	case "open":
		a.open = true
		return nil
	case "table":
		t, ok := typeOf(arg(words, 1))
		if !ok {
			return fmt.Errorf("no table %q", arg(words, 1))
		}
		b, err := hex.DecodeString(strings.Join(words[2:], ""))
		a.tables = append(a.tables, append([]byte{byte(t)}, b...))
		return err
	case "cut":
		a.cut, err = strconv.Atoi(arg(words, 1))
		return err
	}
	return a.event(words)
}

func arg(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return ""
}

// split splits a line into words. Blanks within quotes do not separate words.
func split(line string) (words []string, err error) {
	var word strings.Builder
	quoted := false
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	for _, c := range line {
		switch {
		case c == '"':
			quoted = !quoted
			word.WriteRune(c)
		case c == '#' && !quoted:
			end()
			return words, nil
		case (c == ' ' || c == '\t') && !quoted:
			end()
		default:
			word.WriteRune(c)
		}
	}
	if quoted {
		return nil, fmt.Errorf("a quote is not closed")
	}
	end()
	return words, nil
}

func (a *assembler) generation(words []string) (err error) {
	a.endGeneration()
	a.open = false
	if a.gen, err = strconv.ParseUint(arg(words, 1), 10, 64); err != nil {
		return err
	}
	for _, w := range words[2:] {
		v, ok := strings.CutPrefix(w, "freq=")
		if !ok {
			return fmt.Errorf("generation: what is %q?", w)
		}
		if a.freq, err = strconv.ParseUint(v, 10, 64); err != nil {
			return err
		}
	}
	a.thread, a.time = wire.NoThread, 0
	return nil
}

func (a *assembler) beginBatch(words []string) (err error) {
	a.endBatch()
	a.thread = wire.NoThread
	if name := arg(words, 1); name != "none" {
		if a.thread, err = strconv.ParseUint(name, 10, 64); err != nil {
			return err
		}
	}
	for _, w := range words[2:] {
		v, ok := strings.CutPrefix(w, "time=")
		if !ok {
			return fmt.Errorf("thread: what is %q?", w)
		}
		if a.time, err = strconv.ParseUint(v, 10, 64); err != nil {
			return err
		}
	}
	return nil
}

// event writes an event, or a CPU sample.
func (a *assembler) event(words []string) error {
	t, ok := typeOf(words[0])
	if !ok {
		return fmt.Errorf("no event %q", words[0])
	}
	spec := wire.Specs[t]
	args := spec.Args
	values := make([]uint64, len(args))
	if spec.Timed {
		args = append([]string{"dt"}, args...)
		values = append([]uint64{1}, values...)
	}
	for _, w := range words[1:] {
		name, text, _ := strings.Cut(w, "=")
		i := slices.Index(args, name)
		if i < 0 {
			return fmt.Errorf("%s has no argument %q, but %v", spec.Name, name, args)
		}
		v, err := a.value(name, text)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", spec.Name, name, err)
		}
		values[i] = v
	}
	to := &a.batch
	if t == wire.CPUSample {
		to = &a.samples
	}
	*to = append(*to, byte(t))
	for _, v := range values {
		*to = binary.AppendUvarint(*to, v)
	}
	return nil
}

func (a *assembler) value(name, text string) (uint64, error) {
	quoted := strings.HasPrefix(text, `"`)
	switch text = strings.Trim(text, `"`); {
	case quoted && strings.HasSuffix(name, "stack"):
		return number(&a.stacks, text), nil
	case quoted:
		return number(&a.strings, text), nil
	case text == "none":
		return wire.NoThread, nil
	}
	return strconv.ParseUint(text, 0, 64)
}

// number returns the id of text in a table: its index, from 1.
func number(table *[]string, text string) uint64 {
	i := slices.Index(*table, text)
	if i < 0 {
		i = len(*table)
		*table = append(*table, text)
	}
	return uint64(i + 1)
}

func (a *assembler) endBatch() {
	if len(a.batch) > 0 {
		a.writeBatch(a.thread, a.batch)
		a.batch = nil
	}
}

func (a *assembler) writeBatch(thread uint64, data []byte) {
	a.out = append(a.out, byte(wire.EventBatch))
	for _, v := range []uint64{a.gen, thread, a.time, uint64(len(data))} {
		a.out = binary.AppendUvarint(a.out, v)
	}
	a.out = append(a.out, data...)
}

// endGeneration writes the tables.
func (a *assembler) endGeneration() {
	a.endBatch()
	if a.gen != 0 && !a.open {
		a.writeBatch(wire.NoThread, a.clock())
		a.writeTables()
		if a.version >= 26 {
			a.out = append(a.out, byte(wire.EndOfGeneration))
		}
	}
	a.gen, a.samples, a.tables, a.strings, a.stacks = 0, nil, nil, nil, nil
}

func (a *assembler) clock() (b []byte) {
	if a.version >= 25 {
		b = append(b, byte(wire.Sync))
	}
	b = binary.AppendUvarint(append(b, byte(wire.Frequency)), a.freq)
	if a.version >= 25 {
		b = append(b, byte(wire.ClockSnapshot))
		for _, v := range []uint64{1, a.time, 1700000000, 0} {
			b = binary.AppendUvarint(b, v)
		}
	}
	return b
}

func (a *assembler) writeTables() {
	stacks := []byte{byte(wire.Stacks)}
	for i, text := range a.stacks {
		frames := strings.Split(text, ";")
		stacks = binary.AppendUvarint(append(stacks, byte(wire.Stack)), uint64(i+1))
		stacks = binary.AppendUvarint(stacks, uint64(len(frames)))
		for _, f := range frames {
			stacks = a.frame(stacks, f)
		}
	}
	text := []byte{byte(wire.Strings)}
	for i, s := range a.strings {
		text = binary.AppendUvarint(append(text, byte(wire.String)), uint64(i+1))
		text = append(binary.AppendUvarint(text, uint64(len(s))), s...)
	}
	for _, t := range append([][]byte{stacks, text}, a.tables...) {
		a.writeBatch(wire.NoThread, t)
	}
	if len(a.samples) > 0 {
		a.writeBatch(wire.NoThread, append([]byte{byte(wire.CPUSamples)}, a.samples...))
	}
}

// frame writes "func file:line". Its address is derived from the line.
func (a *assembler) frame(to []byte, text string) []byte {
	fn, place, _ := strings.Cut(strings.TrimSpace(text), " ")
	file, line, _ := strings.Cut(place, ":")
	n, _ := strconv.ParseUint(line, 10, 32)
	fnID, fileID := number(&a.strings, fn), number(&a.strings, file)
	for _, v := range []uint64{0x400000 + fnID<<12 + n, fnID, fileID, n} {
		to = binary.AppendUvarint(to, v)
	}
	return to
}
