package traceview

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/source"
	"github.com/hone-go/hone/profile"
)

// ReportOptions says what a report keeps.
type ReportOptions struct {
	Slowest  int   // number of the slowest requests that are kept in full
	Critical bool  // keep critical paths
	Run      bool  // with Critical: the path of the whole run instead of a request's
	Request  int64 // with Critical: the request whose path is wanted; 0 = the slowest
}

// Report is what all analyses found in a trace.
type Report struct {
	*analysis.Set
	opt  ReportOptions
	path *requests.Path // of the request, if it took more than one reading
}

// Report runs all analyses over the trace. It reads the trace again if a critical path is longer
// than one reading keeps.
func (r *Reader) Report(ctx context.Context, o ReportOptions) (*Report, error) {
	if r.Opener.Traces != nil && o.Slowest == source.KeptSlowest {
		return r.kept(ctx, o)
	}
	rep := &Report{Set: analysis.New(requests.Options{Slowest: o.Slowest, Paths: o.Critical}), opt: o}
	t, err := r.Read(ctx, rep.Folds()...)
	if err != nil {
		return nil, err
	}
	rep.Done(t)
	if o.Critical && r.again {
		err = rep.completePath(ctx, r)
	}
	return rep, err
}

// kept is like Report, for a trace that another view has already read.
func (r *Reader) kept(ctx context.Context, o ReportOptions) (*Report, error) {
	x, err := r.Opener.Index(ctx, r.Name)
	if err != nil {
		return nil, err
	}
	r.Name, r.again, r.Notes = x.Name, true, append(r.Notes, x.Notes...)
	set, err := x.Set(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name, err)
	}
	rep := &Report{Set: set, opt: o}
	if o.Critical {
		err = rep.completePath(ctx, r)
	}
	return rep, err
}

// mostReadings bounds how often a trace is read again for the path of a run.
const mostReadings = 100

// completePath reads the trace again if the first reading has not kept the whole path that is
// wanted.
func (rep *Report) completePath(ctx context.Context, r *Reader) error {
	if rep.opt.Run {
		return r.readEarlier(ctx, rep.Requests)
	}
	q, path := rep.critical()
	if path == nil || !path.Lost() {
		return nil
	}
	one := requests.New(requests.Options{Slowest: 1, Paths: true, PathOf: q.ID})
	if _, _, err := r.read(ctx, one); err != nil {
		return err
	}
	if err := r.readEarlier(ctx, one); err != nil {
		return err
	}
	rep.path = one.RunPath()
	return nil
}

// readEarlier reads the trace again for the earlier part of a path, until it is complete or a
// reading adds nothing.
func (r *Reader) readEarlier(ctx context.Context, of *requests.Fold) error {
	for range mostReadings {
		part := of.Earlier()
		if part == nil {
			return nil
		}
		if _, _, err := r.read(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// CriticalPath is the JSON of hone trace critical.
type CriticalPath struct {
	Request *requests.Request `json:"request,omitempty"` // absent for the whole run
	Path    *requests.Path    `json:"path"`
}

// CriticalPath returns the path that the options ask for, or an error that says why there is none.
func (rep *Report) CriticalPath() (CriticalPath, error) {
	q, path := rep.critical()
	if path != nil {
		return CriticalPath{q, path}, nil
	}
	switch res := rep.Requests.Result(); {
	case rep.opt.Run:
		return CriticalPath{}, errors.New("the trace has no path: nothing ran in it")
	case res.All == nil:
		return CriticalPath{}, errors.New("no request started and finished in this trace; -run shows the path of the whole run")
	case rep.opt.Request != 0:
		return CriticalPath{}, fmt.Errorf("request %d is not among the %d slowest, whose paths are kept; -slowest N keeps more", rep.opt.Request, len(res.Slowest))
	}
	return CriticalPath{}, errors.New("no path was kept")
}

// critical returns the path that the options ask for; nil when there is none.
func (rep *Report) critical() (*requests.Request, *requests.Path) {
	if rep.opt.Run {
		return nil, rep.Requests.RunPath()
	}
	res := rep.Requests.Result()
	for i := range res.Slowest {
		q := &res.Slowest[i]
		if rep.opt.Request == 0 || q.ID == rep.opt.Request {
			kept := *q
			kept.Path = nil // CriticalPath has it as a separate field
			return &kept, cmp.Or(rep.path, q.Path)
		}
	}
	return nil, nil
}

// Profile returns a view as a pprof profile; analysis.Profiles lists the views.
func (rep *Report) Profile(view string) (*profile.Profile, error) {
	if view == "critical" {
		_, path := rep.critical()
		return rep.Requests.PathProfile(path)
	}
	return rep.Set.Profile(view)
}
