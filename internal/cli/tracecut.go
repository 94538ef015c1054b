package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/hone-go/hone/exectrace"
)

// cut is hone trace cut: whole generations between -from and -to as a trace of their own.
func (f *traceFlags) cut(ctx context.Context, env Env, args []string) error {
	return f.rewrite(ctx, env, "cut", args, func(w io.Writer, r io.Reader) (exectrace.Written, error) {
		return exectrace.Cut(ctx, w, r, f.events.from, f.events.to, exectrace.Options{})
	})
}

// anonymize is hone trace anonymize.
func (f *traceFlags) anonymize(ctx context.Context, env Env, args []string) error {
	return f.rewrite(ctx, env, "anonymize", args, func(w io.Writer, r io.Reader) (exectrace.Written, error) {
		return exectrace.Anonymize(ctx, w, r, exectrace.Options{})
	})
}

// rewrite writes a trace that is made of another. What could be made of a broken one is kept, and said.
func (f *traceFlags) rewrite(ctx context.Context, env Env, view string, args []string, do func(io.Writer, io.Reader) (exectrace.Written, error)) error {
	if f.out == "" {
		return usagef("trace %s: name the new trace with -o FILE (- for standard output)", view)
	}
	if f.out == "-" && env.StdoutTerminal {
		return usagef("trace %s: a trace is not for a terminal; name a file with -o FILE", view)
	}
	src, _, err := f.open(ctx, env, args)
	if err != nil {
		return err
	}
	defer src.Close()
	to, finish, err := f.create(env)
	if err != nil {
		return err
	}
	written, err := do(to, src)
	var broken *exectrace.Broken
	if err != nil && !(errors.As(err, &broken) && written.Generations > 0) {
		return errors.Join(fmt.Errorf("%s: %w", src.Name, err), finish(false))
	}
	if broken != nil {
		env.say("note: %s: %v; what is written is of the part before", src.Name, broken)
	}
	if written.Generations == 0 {
		return errors.Join(fmt.Errorf("%s: nothing between -from %s and -to %s", src.Name, f.events.from, f.events.to), finish(false))
	}
	if err := finish(true); err != nil {
		return err
	}
	if !f.quiet {
		env.say("%s: %d of %d generations, %s to %s, %d bytes", f.out, written.Generations, written.Generations+written.Skipped, written.From, written.To, written.Bytes)
	}
	return nil
}

// create opens -o. finish closes it, or with false removes it: a file that is not whole is worse than none.
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
