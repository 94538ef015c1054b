package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/exectrace/window"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/profile"
)

// Indexed is an execution trace whose intervals can be read without the rest. It must be closed.
type Indexed struct {
	*window.Index
	Name  string
	Notes []string // what the reader should know about how it was read

	open  func() (io.ReadCloser, error)
	close func() error
	once  sync.Mutex // guards set
	set   *analysis.Set
}

// mostInflated bounds the copy of a compressed trace.
const mostInflated = 8 << 30

// Index reads the trace that arg names in full, once; see Trace. Standard input and URLs cannot be
// indexed.
func (o Opener) Index(ctx context.Context, arg string) (*Indexed, error) {
	if o.Traces != nil {
		return o.Traces.get(ctx, o, arg)
	}
	return o.index(ctx, arg)
}

func (o Opener) index(ctx context.Context, arg string) (*Indexed, error) {
	src, err := o.Trace(ctx, arg)
	if err != nil {
		return nil, err
	}
	if !src.Again {
		src.Close()
		return nil, fmt.Errorf("%s: an interval of a trace can only be read from a file; save the trace to a file first", src.Name)
	}
	file, drop, err := plainFile(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.Name, err)
	}
	x := &Indexed{Name: src.Name, close: drop}
	x.open = func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(file, 0, 1<<62)), nil
	}
	o.Say("trace", "reading the execution trace")
	index := window.NewIndexer()
	t, err := exectrace.Read(ctx, io.NewSectionReader(file, 0, 1<<62), exectrace.Options{}, index.Fold(),
		requests.New(requests.Options{Slowest: 1, Ended: index.Request}))
	cut, err := exectrace.Usable(t, err)
	if cut != nil {
		x.Notes = append(x.Notes, cut.Note())
	}
	if err == nil {
		x.Index, err = index.Index(t, file)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", src.Name, err), drop())
	}
	return x, nil
}

// plainFile returns a file with the trace without compression: the file itself, or a copy that is
// removed when it is closed.
func plainFile(src *Trace) (file *os.File, drop func() error, err error) {
	if f, ok := src.ReadCloser.(*os.File); ok {
		head := make([]byte, 4)
		if _, err := f.ReadAt(head, 0); err == nil && bytes.HasPrefix(head, []byte("go 1")) {
			return f, f.Close, nil
		}
	}
	defer src.Close()
	var r io.Reader = src
	head := make([]byte, 4)
	n, err := io.ReadFull(src, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil, err
	}
	r = io.MultiReader(bytes.NewReader(head[:n]), src)
	if !bytes.HasPrefix(head, []byte("go 1")) {
		inflated, err := profile.Inflate(r, mostInflated)
		if err != nil {
			return nil, nil, err
		}
		defer inflated.Close()
		r = inflated
	}
	f, err := os.CreateTemp("", "hone-trace-*")
	if err != nil {
		return nil, nil, err
	}
	gone := os.Remove(f.Name()) == nil // if an open file cannot be removed, Close removes it
	drop = func() error {
		err := f.Close()
		if !gone {
			err = errors.Join(err, os.Remove(f.Name()))
		}
		return err
	}
	if _, err := io.Copy(f, r); err != nil {
		return nil, nil, errors.Join(err, drop())
	}
	return f, drop, nil
}

// KeptSlowest is how many of the slowest requests the analyses of an Indexed keep in full.
const KeptSlowest = 20

// Set returns all analyses of the whole trace. They are computed on first use, with the paths of
// the slowest requests.
func (x *Indexed) Set(ctx context.Context) (*analysis.Set, error) {
	x.once.Lock()
	defer x.once.Unlock()
	if x.set != nil {
		return x.set, nil
	}
	r, err := x.open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	set, _, err := analysis.Read(ctx, r, requests.Options{Slowest: KeptSlowest, Paths: true})
	if err == nil {
		x.set = set
	}
	return set, err
}

// Close closes the file.
func (x *Indexed) Close() error { return x.close() }

// Traces keeps the traces that were used last. The zero value is ready to use.
type Traces struct {
	mu   sync.Mutex
	kept []keptTrace // the most recent last
}

type keptTrace struct {
	state string // of the file
	trace *Indexed
}

// mostTraces is the number of traces kept: each holds sums by stack of all its generations.
const mostTraces = 2

func (k *Traces) get(ctx context.Context, o Opener, arg string) (*Indexed, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	file := arg
	if name, _, ok := splitRecording(arg); ok {
		file = o.Shelf().Path(name)
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	state := fmt.Sprint(arg, " ", info.Size(), " ", info.ModTime().UnixNano())
	for i, t := range k.kept {
		if t.state == state {
			k.kept = append(append(k.kept[:i:i], k.kept[i+1:]...), t)
			return t.trace, nil
		}
	}
	x, err := o.index(ctx, arg)
	if err != nil {
		return nil, err
	}
	if len(k.kept) >= mostTraces {
		k.kept[0].trace.Close() // it is read-only: nothing is lost
		k.kept = k.kept[1:]
	}
	k.kept = append(k.kept, keptTrace{state, x})
	return x, nil
}

// Close closes the traces that are kept.
func (k *Traces) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range k.kept {
		t.trace.Close()
	}
	k.kept = nil
}

// indexedProfile returns a view of a trace, or of an interval of it, from its index.
func (o Opener) indexedProfile(ctx context.Context, arg, view string) (p *profile.Profile, notes []string, err error) {
	x, err := o.Index(ctx, arg)
	if err != nil {
		return nil, nil, err
	}
	if o.Traces == nil {
		defer x.Close()
	}
	if o.From == 0 && o.To == 0 {
		set, err := x.Set(ctx)
		if err != nil {
			return nil, nil, err
		}
		p, err = set.Profile(view)
		return p, x.Notes, err
	}
	p, err = x.Profile(ctx, view, o.From.Nanoseconds(), o.To.Nanoseconds())
	return p, x.Notes, err
}

// traceArg returns the argument of Index for the trace of a recording.
func traceArg(rec *recording.Recording) string { return rec.Path + ":trace" }
