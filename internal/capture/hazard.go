package capture

import (
	"strings"

	"github.com/hone-go/hone/internal/recording"
)

// traceHazard returns what to say when a program died in a phase: a program of Go 1.25 or 1.26 that
// panics while it is traced may crash, since the tracer then unwinds by frame pointers that the
// panic left behind (go.dev/issue/73664). "" when that cannot be the cause.
func traceHazard(phase, goVersion string) string {
	if phase != recording.PhaseTrace {
		return ""
	}
	for _, v := range []string{"go1.25", "go1.26"} {
		if rest, ok := strings.CutPrefix(goVersion, v); ok && (rest == "" || strings.Trim(rest[:1], "0123456789") != "") {
			return "; a panic, even a recovered one, may crash a program of Go 1.25 or 1.26 that is traced (go.dev/issue/73664): -phases cpu,contention records without the trace"
		}
	}
	return ""
}
