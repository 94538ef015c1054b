package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/version"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/target"
)

const (
	// oldestProbe is the oldest Go version whose programs can contain hone's probe.
	oldestProbe = "go1.23"
	// quotaAware is the oldest Go version whose runtime takes GOMAXPROCS from a cgroup's quota (Go
	// 1.25 release notes, "Container-aware GOMAXPROCS").
	quotaAware = "go1.25"

	goTimeout = 20 * time.Second // go env may have to download the toolchain that go.mod names
)

// toolchain is the settings of the go command in the target's directory.
type toolchain struct {
	path    string
	version string // "go1.26.8"; "" unknown
	flags   string // GOFLAGS
	cgo     bool   // CGO_ENABLED
	cc      string // the C compiler's command line
	err     error  // no go command, or it failed
}

func readToolchain(ctx context.Context, c Config) toolchain {
	name := c.GoCommand
	if name == "" {
		name = "go"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return toolchain{err: fmt.Errorf("no go command: %w", err)}
	}
	ctx, cancel := context.WithTimeout(ctx, goTimeout)
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, "env", "-json", "GOVERSION", "GOFLAGS", "CGO_ENABLED", "CC")
	cmd.Dir = c.Dir
	cmd.Stderr = &stderr
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return toolchain{path: path, err: fmt.Errorf("%s env: %w%s", path, err, lastLine(stderr.String()))}
	}
	var env struct{ GOVERSION, GOFLAGS, CGO_ENABLED, CC string }
	if err := json.Unmarshal(out, &env); err != nil {
		return toolchain{path: path, err: fmt.Errorf("%s env -json: %w", path, err)}
	}
	return toolchain{path: path, version: env.GOVERSION, flags: env.GOFLAGS, cgo: env.CGO_ENABLED == "1", cc: env.CC}
}

// lastLine returns the last line of an error output, after a colon.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return ": " + last
	}
	return ""
}

// judgeToolchain compares the go command with what the probe needs and with the Go version that
// built hone.
func judgeToolchain(t toolchain, own string) Check {
	const name = "go"
	if t.path == "" {
		return fail(name, fmt.Sprintf("%v; hone can read recordings and profiles and attach to running services, but cannot build programs", t.err),
			"install Go (https://go.dev/dl) and put its bin directory in PATH")
	}
	if t.err != nil {
		return fail(name, t.err.Error(), "make `go env` work in this directory")
	}
	// The version of a toolchain built from source is "devel go1.27-…".
	release := strings.TrimPrefix(t.version, "devel ")
	release, _, _ = strings.Cut(release, " ")
	release, _, _ = strings.Cut(release, "-")
	detail := fmt.Sprintf("%s at %s; hone was built by %s", t.version, t.path, own)
	switch {
	case !version.IsValid(release):
		return warn(name, detail+"; it is unknown whether its programs can contain the probe", "use a release of Go")
	case version.Compare(release, oldestProbe) < 0:
		return warn(name, detail+"; programs built by it cannot contain the probe, which needs "+oldestProbe+" or newer",
			"use a newer Go, or give the program net/http/pprof and attach to its URL")
	}
	return ok(name, detail)
}

// surprises are build flags that change the measured program, or that leave nothing to measure.
var surprises = []struct {
	flag   string
	status Status
	means  string
}{
	{"-n", Fail, "prints the build and builds nothing"},
	{"-json", Fail, "makes the compiler print JSON; hone refuses to build with it"},
	{"-exec", Fail, "is refused: hone runs the program itself"},
	{"-buildmode", Fail, "does not build a program"},
	{"-race", Warn, "makes everything slower, some code more than other"},
	{"-msan", Warn, "makes everything slower, some code more than other"},
	{"-asan", Warn, "makes everything slower, some code more than other"},
	{"-cover", Warn, "adds a counter to every block"},
	{"-covermode", Warn, "adds a counter to every block"},
	{"-coverpkg", Warn, "adds a counter to every block"},
	{"-gcflags", Warn, "switches optimisations off: the profile is of another program"},
	{"-toolexec", Warn, "runs a program between the go command and the compiler, also when hone asks the compiler"},
	{"-linkshared", Warn, "needs its shared libraries where hone starts it"},
}

// harmless reports whether a flag of the table has a value with which it has no effect.
func harmless(flag, value string) bool {
	switch flag {
	case "-gcflags": // "-N -l", "all=-N"
		return !slices.ContainsFunc(strings.Fields(value), func(word string) bool {
			return strings.HasSuffix(word, "-N") || strings.HasSuffix(word, "-l")
		})
	case "-buildmode":
		return value == "exe" || value == "pie" || value == "default"
	}
	return value == "false" || value == "0"
}

// judgeFlags looks for surprises in GOFLAGS, from the environment or from go env -w.
func judgeFlags(t toolchain) Check {
	const name = "build flags"
	const fix = "unset it for the measurement: GOFLAGS= hone …, or go env -u GOFLAGS"
	if t.err != nil {
		return ok(name, "unknown without a go command")
	}
	words, err := target.SplitFlags(t.flags)
	if err != nil {
		return fail(name, fmt.Sprintf("GOFLAGS: %v", err), fix)
	}
	if len(words) == 0 {
		return ok(name, "GOFLAGS is empty")
	}
	status := OK
	var found []string
	for _, word := range words {
		flag, value, _ := strings.Cut(word, "=")
		flag = "-" + strings.TrimLeft(flag, "-")
		for _, s := range surprises {
			if flag != s.flag || harmless(flag, value) {
				continue
			}
			found = append(found, word+" "+s.means)
			if status == OK || s.status == Fail {
				status = s.status
			}
		}
	}
	if status == OK {
		return ok(name, "GOFLAGS="+t.flags+" is merged with what hone needs")
	}
	return Check{name, status, "GOFLAGS: " + strings.Join(found, "; "), fix}
}

// judgeCgo looks for the C compiler; lookup is exec.LookPath.
func judgeCgo(t toolchain, lookup func(string) (string, error)) Check {
	const name = "cgo"
	if t.err != nil {
		return ok(name, "unknown without a go command")
	}
	cc, _, _ := strings.Cut(t.cc, " ")
	if cc == "" {
		cc = "gcc" // the default of the go command
	}
	path, err := lookup(cc)
	switch {
	case err != nil:
		return warn(name, "no C compiler ("+cc+"): programs that use cgo cannot be built, pure Go programs can",
			"install gcc or clang if your program uses cgo")
	case !t.cgo:
		return ok(name, "off by CGO_ENABLED=0: programs are built without it; the C compiler would be "+path)
	}
	return ok(name, "on, C compiler "+path)
}
