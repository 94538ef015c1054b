package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hone-go/hone/internal/recording"
)

// maxInput bounds the standard input that is kept for the runs of a program, in bytes.
const maxInput = 4 << 30

// takeInput makes sure that each run of the program can read the same standard input, and notes its
// source in the manifest.
func (r *recorder) takeInput(ctx context.Context) error {
	if r.o.Stdin != "" {
		f, err := os.Open(r.o.Stdin)
		if err != nil {
			return fmt.Errorf("standard input of the program: %w", err)
		}
		r.describeInput(r.o.Stdin)
		return f.Close()
	}
	if r.o.StdinFrom == nil {
		return nil
	}
	r.say(Event{Phase: phaseInput, Text: "reading standard input to its end, for each run of the program; -stdin FILE names a file, -stdin /dev/null gives none"})
	path := filepath.Join(r.tmp, "stdin")
	n, err := keepInput(ctx, path, r.o.StdinFrom, maxInput)
	if err != nil {
		return err
	}
	r.o.Stdin = path
	r.describeInput(piped(n))
	return nil
}

// piped describes input from hone's own standard input.
func piped(n int64) string { return fmt.Sprintf("%d bytes of hone's standard input", n) }

const phaseInput = "input"

func (r *recorder) describeInput(what string) {
	r.out.Update(func(m *recording.Manifest) { m.Target.Stdin = what })
}

// keepInput copies at most the given number of bytes to a file. Once ctx ends, it does not wait for
// a pipe that nobody writes to.
func keepInput(ctx context.Context, path string, from io.Reader, most int64) (int64, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, fmt.Errorf("keep standard input: %w", err)
	}
	type copied struct {
		n   int64
		err error
	}
	done := make(chan copied, 1)
	go func() {
		n, err := io.Copy(f, io.LimitReader(from, most+1))
		done <- copied{n, errors.Join(err, f.Close())}
	}()
	select {
	case c := <-done:
		switch {
		case c.err != nil:
			return c.n, fmt.Errorf("keep standard input: %w", c.err)
		case c.n > most:
			return c.n, fmt.Errorf("standard input holds more than %d GiB: name a file with -stdin", most>>30)
		}
		return c.n, nil
	case <-ctx.Done():
		return 0, fmt.Errorf("read standard input: %w", context.Cause(ctx))
	}
}
