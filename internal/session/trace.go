package session

import (
	"context"
	"fmt"

	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/recording"
)

// readTrace runs all analyses over a recording's trace. If the trace is missing or cannot be read,
// the recording is diagnosed without it, and a note says so.
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
	set, _, err := analysis.Read(ctx, r, requests.Options{}) // hone itself truncates long traces
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if err != nil {
		return nil, []string{fmt.Sprintf("the execution trace cannot be read (%v): waits are known only from the profiles", err)}, nil
	}
	res := set.Results()
	var notes []string
	for _, m := range res.Remarks {
		if m.Topic == "p99" {
			notes = append(notes, "slow requests during the trace: "+m.Text+" hone trace requests "+c.Shelf().ShortName(rec.Path)+" shows more")
		}
	}
	return res, notes, nil
}
