package traceview

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/source"
)

// Reader reads one trace.
type Reader struct {
	Opener source.Opener
	// Progress is called with the number of bytes read, and the size of the trace (0: unknown); nil
	// for no progress.
	Progress func(read, of int64)

	Name  string   // as the user typed it; the recording's name after the last recording was opened
	Notes []string // what the reader of the view should know about the trace, such as that it is damaged

	again bool // the trace can be opened again, with the same content
}

// open opens the trace.
func (r *Reader) open(ctx context.Context) (*source.Trace, error) {
	src, err := r.Opener.Trace(ctx, r.Name)
	if err != nil {
		return nil, err
	}
	r.Name, r.again = src.Name, src.Again
	return src, nil
}

// Read reads the trace once for some folds. A damaged trace is read up to the damage, and Notes say
// so.
func (r *Reader) Read(ctx context.Context, folds ...exectrace.Fold) (*exectrace.Trace, error) {
	t, cut, err := r.read(ctx, folds...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name, err)
	}
	if cut != nil {
		r.Notes = append(r.Notes, cut.Note())
	}
	return t, nil
}

// read reads the trace. cut says where it is damaged; nil for an intact trace.
func (r *Reader) read(ctx context.Context, folds ...exectrace.Fold) (t *exectrace.Trace, cut *exectrace.Broken, err error) {
	src, err := r.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer src.Close()
	var o exectrace.Options
	if r.Progress != nil {
		o.Progress = func(n int64) { r.Progress(n, src.Size) }
	}
	t, err = exectrace.Read(ctx, src, o, folds...)
	cut, err = exectrace.Usable(t, err)
	return t, cut, err
}

// Cut writes the whole generations between from and to, counted from the trace's start, as a trace.
// to 0 is the trace's end.
func (r *Reader) Cut(ctx context.Context, w io.Writer, from, to time.Duration) (exectrace.Written, error) {
	return r.rewrite(ctx, func(src io.Reader) (exectrace.Written, error) {
		return exectrace.Cut(ctx, w, src, from, to, exectrace.Options{})
	})
}

// Anonymize writes the trace without the names of the user's code.
func (r *Reader) Anonymize(ctx context.Context, w io.Writer) (exectrace.Written, error) {
	return r.rewrite(ctx, func(src io.Reader) (exectrace.Written, error) {
		return exectrace.Anonymize(ctx, w, src, exectrace.Options{})
	})
}

// rewrite writes a trace derived from another. Of a damaged trace, the part before the damage is
// written, and Notes say so.
func (r *Reader) rewrite(ctx context.Context, do func(io.Reader) (exectrace.Written, error)) (exectrace.Written, error) {
	src, err := r.open(ctx)
	if err != nil {
		return exectrace.Written{}, err
	}
	defer src.Close()
	written, err := do(src)
	var broken *exectrace.Broken
	if errors.As(err, &broken) && written.Generations > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%v; what precedes it is written", broken))
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", r.Name, err)
	}
	return written, err
}
