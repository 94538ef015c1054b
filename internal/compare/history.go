package compare

import (
	"fmt"

	"github.com/hone-go/hone/internal/history"
	"github.com/hone-go/hone/internal/recording"
)

// History returns the samples of a recording's clean phase for the history: for each figure the
// values of its windows or processes, in order, or the figure itself if it has none.
func History(m recording.Manifest) ([]history.Sample, error) {
	clean, ok := phase(m, recording.PhaseClean)
	if !ok {
		return nil, fmt.Errorf("the recording has no clean phase")
	}
	owner := m.Target.ImportPath
	if owner == "" {
		owner = m.Target.Arg
	}
	var out []history.Sample
	for _, f := range figures(m, clean) {
		values := f.values
		if len(values) == 0 {
			values = []float64{f.value}
		}
		name := f.name
		if !f.bench {
			name = m.Target.Kind
		}
		out = append(out, history.Sample{Series: history.Series{Package: owner, Name: name, Unit: f.metric + " " + f.unit}, Values: values})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the clean phase has no figures")
	}
	return out, nil
}
