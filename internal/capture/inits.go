package capture

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/hone-go/hone/internal/recording"
)

const (
	// longestStart is the mean time of a run, in seconds, up to which its start can matter.
	longestStart = 2.0
	// leastInit is the minimum time of a package's initialisation, in seconds, that is recorded.
	leastInit = 200e-6
)

// recordInits runs a short program once more, with the runtime's trace of package initialisation.
// Most of that ends before the probe starts, which is in package main, and so is in no profile. A
// failure loses it, not the recording; only the end of ctx is returned as an error.
func (r *recorder) recordInits(ctx context.Context, start startFunc) error {
	m := r.out.Manifest()
	if m.Target.Kind != kindProgram || !slices.Contains(r.o.Phases, recording.PhaseCounts) {
		return nil
	}
	clean, ok := m.Phase(recording.PhaseClean)
	if !ok || clean.Runs == 0 || clean.Seconds/float64(clean.Runs) > longestStart {
		return nil
	}
	spec := r.specAgain()
	spec.Echo = nil // the runtime's lines are not the program's
	spec.Env = append(slices.Clip(spec.Env), "GODEBUG="+godebug(spec.Env))
	_, _, err := r.runAgain(ctx, start, spec, instrument{})
	if ctx.Err() != nil {
		return r.interrupted(ctx)
	}
	if err != nil {
		r.note("the initialisation of packages is not known: %s", firstLine(err.Error()))
		return nil
	}
	text, err := os.ReadFile(spec.Stderr)
	if err != nil {
		return fmt.Errorf("read the trace of package initialisation: %w", err)
	}
	if inits := parseInits(text); len(inits) > 0 {
		r.out.Update(func(m *recording.Manifest) { m.Inits = inits })
	}
	return r.checkpoint()
}

// godebug adds the trace to the settings that the program was given.
func godebug(env []string) string {
	for _, e := range slices.Backward(env) {
		if set, ok := strings.CutPrefix(e, "GODEBUG="); ok && set != "" {
			return set + ",inittrace=1"
		}
	}
	return "inittrace=1"
}

// parseInits reads lines such as
//
//	init example.com/app/tables @1.2 ms, 3.4 ms clock, 5678 bytes, 90 allocs
//
// and returns the packages that take long, longest first.
func parseInits(text []byte) []recording.Init {
	var all []recording.Init
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) != 11 || f[0] != "init" || !strings.HasPrefix(f[2], "@") || f[6] != "clock," || f[8] != "bytes," || f[10] != "allocs" {
			continue
		}
		ms, err1 := strconv.ParseFloat(f[4], 64)
		size, err2 := strconv.ParseInt(f[7], 10, 64)
		objects, err3 := strconv.ParseInt(f[9], 10, 64)
		if err1 != nil || err2 != nil || err3 != nil || ms < leastInit*1e3 {
			continue
		}
		all = append(all, recording.Init{Package: f[1], Seconds: ms / 1e3, AllocBytes: size, AllocObjects: objects})
	}
	slices.SortStableFunc(all, func(a, b recording.Init) int {
		switch {
		case a.Seconds > b.Seconds:
			return -1
		case a.Seconds < b.Seconds:
			return 1
		}
		return 0
	})
	return all
}
