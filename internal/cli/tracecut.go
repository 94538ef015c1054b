package cli

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/traceview"
)

// cut is hone trace cut: whole generations between -from and -to as a trace of their own.
func (f *traceFlags) cut(ctx context.Context, env Env, args []string) error {
	return f.rewrite(env, "cut", args, func(r *traceview.Reader, w io.Writer) (exectrace.Written, error) {
		return r.Cut(ctx, w, f.events.from, f.events.to)
	})
}

// anonymize is hone trace anonymize.
func (f *traceFlags) anonymize(ctx context.Context, env Env, args []string) error {
	return f.rewrite(env, "anonymize", args, func(r *traceview.Reader, w io.Writer) (exectrace.Written, error) {
		return r.Anonymize(ctx, w)
	})
}

// rewrite writes a trace derived from another to the file of -o.
func (f *traceFlags) rewrite(env Env, view string, args []string, do func(*traceview.Reader, io.Writer) (exectrace.Written, error)) error {
	if f.out == "" {
		return usagef("trace %s: give a file for the new trace with -o FILE (- for standard output)", view)
	}
	if f.out == "-" && env.StdoutTerminal {
		return usagef("trace %s: a trace is binary: write it to a file with -o FILE", view)
	}
	r, prog, err := f.reader(env, args)
	if err != nil {
		return err
	}
	to := lateFile{create: func() (io.Writer, func(bool) error, error) { return f.create(env) }}
	written, err := do(r, &to)
	prog.clear()
	if err := errors.Join(err, to.finish(err == nil)); err != nil {
		return err
	}
	noteOnSource(env, r)
	if !f.quiet {
		env.say("%s: %d of %d generations, %s to %s, %d bytes", f.out, written.Generations, written.Generations+written.Skipped, written.From, written.To, written.Bytes)
	}
	return nil
}

// lateFile creates a file at the first write, so that an unreadable trace does not overwrite an
// existing file.
type lateFile struct {
	create func() (io.Writer, func(good bool) error, error)
	w      io.Writer
	done   func(good bool) error
}

func (l *lateFile) Write(b []byte) (n int, err error) {
	if l.w == nil {
		if l.w, l.done, err = l.create(); err != nil {
			return 0, err
		}
	}
	return l.w.Write(b)
}

func (l *lateFile) finish(good bool) error {
	if l.done == nil {
		return nil
	}
	return l.done(good)
}

// create opens the file of -o. finish closes it or, with false, removes it, because an incomplete
// file is worse than none.
func (f *traceFlags) create(env Env) (w io.Writer, finish func(good bool) error, err error) {
	if f.out == "" || f.out == "-" {
		return env.data(), func(bool) error { return nil }, nil
	}
	file, err := os.Create(absolute(env.Dir, f.out))
	if err != nil {
		return nil, nil, err
	}
	return file, func(good bool) error {
		err := file.Close()
		if !good {
			err = errors.Join(err, os.Remove(file.Name()))
		}
		return err
	}, nil
}
