package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/term"

	"github.com/hone-go/hone/internal/prompt"
)

// terminal returns standard input and output if both are terminals.
func terminal(env Env) (in, out *os.File, ok bool) {
	in, isIn := env.Stdin.(*os.File)
	stdout, _ := env.raw()
	out, isOut := stdout.(*os.File)
	ok = isIn && isOut && term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd()))
	return in, out, ok
}

// interact reads commands from a terminal until the user quits.
func (sh *shell) interact(in, out *os.File, v *view) error {
	t := sh.newTerminal(in, out)
	fmt.Fprintf(sh.env.Stdout, "%s: %s. help lists the commands, Tab completes, Ctrl-D ends.\n", v.Source.Name, v.SampleType.Type)
	for {
		line, err := readLine(sh.ctx, in, t)
		if err != nil {
			fmt.Fprintln(out) // the prompt is still on this line
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = sh.command(line)
		if errors.Is(err, errQuit) {
			return nil
		}
		if sh.ctx.Err() != nil {
			return sh.ctx.Err()
		}
		if err != nil {
			sh.env.say("hone: %s", err)
		}
		if w, h, err := term.GetSize(int(out.Fd())); err == nil && w > 0 {
			sh.env.Width = w
			t.SetSize(w, h)
		}
	}
}

// signals keeps Ctrl-C from ending the shell: it ends only the running command. end restores the
// default.
func (sh *shell) signals() (end func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(sh.ctx))
	sh.ctx, sh.sources.ctx = ctx, ctx
	ending := make(chan os.Signal, 1)
	signal.Notify(ending, syscall.SIGTERM)
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt) // never read: hone must not be killed by the signal
	go func() {
		select {
		case <-ending:
			cancel()
		case <-ctx.Done():
		}
	}()
	return func() {
		signal.Stop(ending)
		signal.Stop(interrupts)
		cancel()
	}
}

// command runs a line, which Ctrl-C interrupts.
func (sh *shell) command(line string) error {
	ctx, stop := signal.NotifyContext(sh.ctx, os.Interrupt)
	defer stop()
	err := sh.line(ctx, line)
	if err != nil && !errors.Is(err, errQuit) && ctx.Err() != nil && sh.ctx.Err() == nil {
		return errors.New("interrupted")
	}
	return err
}

// newTerminal returns a line editor with the history of earlier shells.
func (sh *shell) newTerminal(in io.Reader, out io.Writer) *term.Terminal {
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{interruptible{in}, out}, "(hone) ")
	if sh.env.Width > 0 {
		t.SetSize(sh.env.Width, 24)
	}
	history := &prompt.History{} // in memory only, if there is no cache or the file cannot be read
	if sh.env.CacheDir != "" {
		if h, err := prompt.OpenHistory(filepath.Join(sh.env.CacheDir, "shell_history")); err == nil {
			history = h
		} else {
			sh.env.say("hone: %v", err)
		}
	}
	t.History = history
	t.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		if key != '\t' {
			return "", 0, false
		}
		c := prompt.Complete(line, pos, sh.candidates)
		if len(c.Choices) > 0 && c.Line == line {
			printChoices(t, c.Choices, sh.env.Width)
		}
		return c.Line, c.Pos, true
	}
	return t
}

// interruptible makes Ctrl-C discard the line: it goes to the end of the line and deletes it. The
// line editor would take Ctrl-C for the end of input.
type interruptible struct{ io.Reader }

func (r interruptible) Read(p []byte) (int, error) {
	const ctrlC, ctrlE, ctrlU = 3, 5, 21
	buf := make([]byte, max(1, len(p)/2))
	n, err := r.Reader.Read(buf)
	to := p[:0]
	for _, b := range buf[:n] {
		if b == ctrlC && len(p) > 1 {
			to = append(to, ctrlE, ctrlU)
		} else {
			to = append(to, b)
		}
	}
	return len(to), err
}

// readLine reads a line in raw mode, and leaves that mode in any case.
func readLine(ctx context.Context, in *os.File, t *term.Terminal) (string, error) {
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return "", fmt.Errorf("prepare the terminal: %w", err)
	}
	defer term.Restore(int(in.Fd()), state) // an error cannot be handled better
	type result struct {
		line string
		err  error
	}
	read := make(chan result, 1)
	go func() {
		line, err := t.ReadLine()
		if errors.Is(err, term.ErrPasteIndicator) {
			err = nil
		}
		read <- result{line, err}
	}()
	select {
	case r := <-read:
		return r.line, r.err
	case <-ctx.Done():
		return "", ctx.Err() // hone exits, which also ends the reader
	}
}
