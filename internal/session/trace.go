package session

import (
	"context"
	"fmt"

	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/recording"
)

// readTrace runs all analyses over a recording's trace. A recording without one, or with one
// that cannot be read, is diagnosed without: the notes say so.
func (c Config) readTrace(ctx context.Context, rec *recording.Recording) (*analysis.Results, []string, error) {
	if !rec.Has(recording.PartTrace) {
		return nil, nil, nil
	}
	r, err := rec.Part(recording.PartTrace)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	c.say("trace", "reading the execution trace")
	set, _, err := analysis.Read(ctx, r, requests.Options{}) // hone cuts long traces itself
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if err != nil {
		return nil, []string{fmt.Sprintf("the execution trace cannot be read (%v): waits come from the profiles alone", err)}, nil
	}
	res := set.Results()
	var notes []string
	for _, m := range res.Remarks {
		if m.Topic == "p99" {
			notes = append(notes, "slow requests, while they were traced: "+m.Text+" hone trace requests "+c.Shelf().ShortName(rec.Path)+" shows more")
		}
	}
	return res, notes, nil
}
