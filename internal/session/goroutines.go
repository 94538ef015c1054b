package session

import (
	"context"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/source"
)

// goroutines reads what a recording contains about goroutines that wait, and about those that
// nothing can wake.
func goroutines(ctx context.Context, p *rule.Pass, rec *recording.Recording) (err error) {
	created := creations(rec)
	if p.Parked, err = waiting(ctx, p.Code, rec, recording.PartGoroutine, created); err != nil {
		return err
	}
	if p.OpenBodies, err = openBodies(ctx, p.Code, rec); err != nil {
		return err
	}
	p.Leaked, err = waiting(ctx, p.Code, rec, recording.PartLeaks, created)
	return err
}

// openBodies counts the connections of HTTP clients that wait for a body to be closed.
func openBodies(ctx context.Context, code *gocode.Index, rec *recording.Recording) (int64, error) {
	if !rec.Has(recording.PartGoroutine) {
		return 0, nil
	}
	p, err := source.Part(rec, recording.PartGoroutine)
	if err != nil {
		return 0, err
	}
	return site.OpenBodies(ctx, code, p)
}

// waiting counts the goroutines of a profile by the lines at which they wait. It returns nil when
// there is no such profile, and an empty result when none wait.
func waiting(ctx context.Context, code *gocode.Index, rec *recording.Recording, part string, created map[string]site.Creation) ([]site.Parked, error) {
	if !rec.Has(part) {
		return nil, nil
	}
	p, err := source.Part(rec, part)
	if err != nil {
		return nil, err
	}
	all, err := site.Waiting(ctx, code, p)
	for i := range all {
		all[i].Created = created[all[i].Start.Function]
	}
	if all == nil {
		all = []site.Parked{}
	}
	return all, err
}

// creations returns the go statements in the recording's goroutine dump; none if there is no dump.
func creations(rec *recording.Recording) map[string]site.Creation {
	if !rec.Has(recording.PartGoroutineTxt) {
		return nil
	}
	r, err := rec.Part(recording.PartGoroutineTxt)
	if err != nil {
		return nil // findings are possible without the line of creation
	}
	defer r.Close()
	return site.Creations(r)
}
