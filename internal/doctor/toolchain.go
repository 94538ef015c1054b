package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/version"
	"os/exec"
	"strings"
	"time"
)

const (
	// oldestProbe is the first Go whose programs get hone's probe.
	oldestProbe = "go1.23"
	// quotaAware is the first Go whose runtime takes GOMAXPROCS from a cgroup's
	// quota (Go 1.25 release notes, "Container-aware GOMAXPROCS").
	quotaAware = "go1.25"

	goTimeout = 20 * time.Second // go env may have to fetch the toolchain that go.mod names
)

// toolchain is what the go command says of itself in the target's directory.
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

// lastLine is the end of an error output, with a colon before it.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return ": " + last
	}
	return ""
}

// judgeToolchain compares the go command with what the probe needs and with the Go that built hone.
func judgeToolchain(t toolchain, own string) Check {
	const name = "go"
	if t.path == "" {
		return fail(name, fmt.Sprintf("%v; hone can read recordings and profiles and attach to running services, but build nothing", t.err),
			"install Go (https://go.dev/dl) and put its bin directory in PATH")
	}
	if t.err != nil {
		return fail(name, t.err.Error(), "make `go env` work in this directory")
	}
	// A toolchain built from source says "devel go1.27-…".
	release := strings.TrimPrefix(t.version, "devel ")
	release, _, _ = strings.Cut(release, " ")
	release, _, _ = strings.Cut(release, "-")
	detail := fmt.Sprintf("%s at %s; hone was built by %s", t.version, t.path, own)
	switch {
	case !version.IsValid(release):
		return warn(name, detail+"; cannot tell whether its programs can carry the probe", "use a release of Go")
	case version.Compare(release, oldestProbe) < 0:
		return warn(name, detail+"; programs built by it cannot carry the probe, which needs "+oldestProbe+" or newer",
			"use a newer Go, or give the program net/http/pprof and attach to its URL")
	}
	return ok(name, detail)
}

// surprises are build flags that make the measured program another one than the
// user's, or that leave nothing to measure.
var surprises = []struct {
	flag   string
	status Status
	means  string
}{
	{"-n", Fail, "prints the build and builds nothing"},
	{"-race", Warn, "the race detector makes everything slower, and not evenly"},
	{"-msan", Warn, "the memory sanitizer makes everything slower, and not evenly"},
	{"-asan", Warn, "the address sanitizer makes everything slower, and not evenly"},
	{"-cover", Warn, "coverage counters cost time in every block"},
	{"-covermode", Warn, "coverage counters cost time in every block"},
	{"-coverpkg", Warn, "coverage counters cost time in every block"},
	{"-toolexec", Warn, "a program stands between the go command and the compiler; hone's questions to the compiler go through it too"},
	{"-overlay", Warn, "hone adds its probe by an overlay of its own"},
	{"-buildmode", Warn, "hone starts what it builds: it must be an executable"},
	{"-linkshared", Warn, "hone starts what it builds: it must find its shared libraries"},
}

// judgeFlags looks for surprises in GOFLAGS, from the environment or from go env -w.
func judgeFlags(t toolchain) Check {
	const name = "build flags"
	switch {
	case t.err != nil:
		return ok(name, "cannot tell without a go command")
	case strings.TrimSpace(t.flags) == "":
		return ok(name, "GOFLAGS is empty")
	}
	found, status := flagSurprises(t.flags)
	if len(found) == 0 {
		return ok(name, "GOFLAGS="+t.flags+" is merged with what hone needs")
	}
	return Check{name, status, "GOFLAGS=" + t.flags + ": " + strings.Join(found, "; "),
		"unset it for the measurement: GOFLAGS= hone …, or go env -u GOFLAGS"}
}

// flagSurprises finds the surprises by flag name. Flags are parted at spaces,
// so a quoted flag with a space comes in pieces; its name is in the first.
func flagSurprises(flags string) (found []string, worst Status) {
	worst = OK
	add := func(s Status, text string) {
		found = append(found, text)
		if worst == OK || s == Fail {
			worst = s
		}
	}
	compiler := false // inside -gcflags
	for _, field := range strings.Fields(flags) {
		field = strings.Trim(field, `'"`)
		flag, value, _ := strings.Cut(field, "=")
		flag = "-" + strings.TrimLeft(flag, "-")
		if strings.HasPrefix(field, "-") && flag != "-N" && flag != "-l" {
			compiler = flag == "-gcflags"
		}
		if compiler && unoptimised(flag, value) {
			add(Warn, flag+" "+value+" switches optimisations off: the profile is of another program")
			continue
		}
		for _, s := range surprises {
			if flag == s.flag && value != "false" && value != "0" && (flag != "-buildmode" || value != "exe" && value != "pie" && value != "default") {
				add(s.status, flag+" "+s.means)
			}
		}
	}
	return found, worst
}

// unoptimised tells whether a piece of -gcflags holds -N or -l.
func unoptimised(flag, value string) bool {
	if flag == "-N" || flag == "-l" {
		return true
	}
	// -gcflags=-N, -gcflags=all=-N
	return strings.HasSuffix(value, "-N") || strings.HasSuffix(value, "-l")
}

// judgeCgo looks for the C compiler; lookup is exec.LookPath.
func judgeCgo(t toolchain, lookup func(string) (string, error)) Check {
	const name = "cgo"
	if t.err != nil {
		return ok(name, "cannot tell without a go command")
	}
	cc, _, _ := strings.Cut(t.cc, " ")
	if cc == "" {
		cc = "gcc" // what the go command looks for
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
