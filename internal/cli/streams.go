package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/hone-go/hone/internal/screen"
)

// escaped returns e with screen.Writers as standard output and standard error, and a function that
// flushes them. Commands print text from outside, which must never reach the terminal unescaped.
// Data for other programs goes to data.
func (e Env) escaped() (_ Env, flush func() error) {
	if e.StdoutTTY {
		e.ink = screen.NewInk()
	}
	errs := screen.New(e.Stderr, "")
	e.rawStderr, e.Stderr = e.Stderr, errs
	e, flushOut := e.withStdout(e.Stdout, e.ink)
	return e, func() error {
		if err := flushOut(); err != nil {
			return err
		}
		return errs.Flush()
	}
}

// withStdout returns e with another standard output, escaped except for colours in ink, and a
// function that flushes it.
func (e Env) withStdout(w io.Writer, ink screen.Ink) (_ Env, flush func() error) {
	out := screen.New(w, ink)
	e.rawStdout, e.Stdout, e.ink = w, out, ink
	return e, out.Flush
}

// plainStdout returns e with a file or a program as standard output.
func (e Env) plainStdout(w io.Writer) (_ Env, flush func() error) {
	e.StdoutTerminal, e.StdoutTTY, e.Width = false, false, 0
	return e.withStdout(w, "")
}

// say prints a message to standard error. Lines after the first are indented, so that no name in
// the message can imitate another message.
func (e Env) say(format string, args ...any) {
	fmt.Fprintln(e.Stderr, indented(strings.TrimRight(fmt.Sprintf(format, args...), "\n")))
}

// indented indents the lines after the first.
func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n    ") }

// data returns standard output for data that another program reads (profiles, stacks, pictures):
// unescaped, unless it is a terminal.
func (e Env) data() io.Writer {
	if e.rawStdout == nil || e.StdoutTerminal {
		return e.Stdout
	}
	return e.rawStdout
}

// raw returns the streams themselves, for a program that is started in the terminal and for cursor
// movements. Everything written to them is trusted.
func (e Env) raw() (stdout, stderr io.Writer) {
	stdout, stderr = e.Stdout, e.Stderr
	if e.rawStdout != nil {
		stdout = e.rawStdout
	}
	if e.rawStderr != nil {
		stderr = e.rawStderr
	}
	return stdout, stderr
}
