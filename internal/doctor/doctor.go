package doctor

import (
	"context"
	"os/exec"
	"runtime"

	"github.com/hone-go/hone/internal/recording"
)

// Status is a check's verdict.
type Status string

// OK: nothing to do. Warn: hone works, but measures less or less precisely. Fail: a part of hone
// does not work until this is fixed.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
)

// Check is the result of one check.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Detail string `json:"detail"`        // what was found, and what it means
	Fix    string `json:"fix,omitempty"` // what to do; empty when OK, or when nothing can be done
}

func ok(name, detail string) Check        { return Check{name, OK, detail, ""} }
func warn(name, detail, fix string) Check { return Check{name, Warn, detail, fix} }
func fail(name, detail, fix string) Check { return Check{name, Fail, detail, fix} }

// Config says what to check.
type Config struct {
	CacheDir  string // hone's cache; "" = there is none
	Dir       string // directory whose toolchain and flags are checked; "" = the working directory
	GoCommand string // "" = the go command of PATH
}

// Run runs all checks, one after the other so that they do not disturb each other's timings; it
// takes a fraction of a second. When ctx ends, it returns the results so far.
func Run(ctx context.Context, c Config) []Check {
	machine := recording.ThisMachine()
	throttledBefore, _ := recording.Throttled()
	tools := readToolchain(ctx, c)

	steps := []func() Check{
		func() Check { return judgeToolchain(tools, runtime.Version()) },
		func() Check { return judgeFlags(tools) },
		func() Check { return judgeCgo(tools, exec.LookPath) },
		func() Check { return judgeSystem(machine) },
		func() Check { return judgeProc(runtime.GOOS, readProc()) },
		func() Check { return judgeCores(machine, runtime.GOMAXPROCS(0), tools.version) },
		func() Check { return judgeLoad(readLoad(), machine.Cores) },
		func() Check { return judgeClock(readClock()) },
		func() Check { return judgeTimer(readTimer(ctx)) },
		func() Check { return judgeLoopback(readLoopback(ctx)) },
		func() Check { return judgePorts(readPorts()) },
		func() Check { return judgeFiles(readFileLimit()) },
		func() Check { return judgeCache(c.CacheDir, readCache(ctx, c.CacheDir)) },
		// Last, so that it includes whether the checks were throttled.
		func() Check {
			now, known := recording.Throttled()
			return judgeThrottling(now-throttledBefore, now, known)
		},
	}
	var checks []Check
	for _, step := range steps {
		if ctx.Err() != nil {
			break
		}
		checks = append(checks, step())
	}
	return checks
}
