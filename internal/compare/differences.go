package compare

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/hone-go/hone/internal/recording"
)

// Difference is a property, other than the code, in which the two sides of a comparison differ.
type Difference struct {
	What string `json:"what"` // "arguments", "load", "GOGC", …
	Old  string `json:"old"`
	New  string `json:"new"`
	// Effect is "refused" if the two sides do not measure the same, so that they are compared only
	// on request, "times" if only time and CPU cannot be compared, and "noted" if the difference
	// may be what the user compares.
	Effect string `json:"effect"`
}

// The effects of a difference.
const (
	effectRefused = "refused"
	effectTimes   = "times"
	effectNoted   = "noted"
)

func (d Difference) String() string {
	return fmt.Sprintf("%s: %s and %s", d.What, cmp.Or(d.Old, "none"), cmp.Or(d.New, "none"))
}

// DifferentError says why two recordings do not measure the same.
type DifferentError struct {
	Old, New    string // names
	Differences []Difference
}

func (e *DifferentError) Error() string {
	var words []string
	for _, d := range e.Differences {
		words = append(words, d.String())
	}
	return fmt.Sprintf("%s and %s do not measure the same (%s): a difference would say nothing about the code; -force compares them anyway",
		e.Old, e.New, strings.Join(words, "; "))
}

// differences compares every recording with the first. Unless force is set, it returns an error if
// they do not measure the same.
func differences(sides [2]side, force bool) ([]Difference, error) {
	var all []Difference
	first := sides[0].runs[0]
	for _, s := range sides {
		for _, r := range s.runs {
			found := differ(first.Manifest, r.Manifest)
			refused := slices.DeleteFunc(slices.Clone(found), func(d Difference) bool { return d.Effect != effectRefused })
			if len(refused) > 0 && !force {
				return nil, &DifferentError{Old: first.Name, New: r.Name, Differences: refused}
			}
			for _, d := range found {
				if !slices.Contains(all, d) {
					all = append(all, d)
				}
			}
		}
	}
	return all, nil
}

// differ lists the properties in which two recordings differ.
func differ(a, b recording.Manifest) []Difference {
	var list []Difference
	add := func(effect, what, old, new string) {
		if old != new {
			list = append(list, Difference{what, old, new, effect})
		}
	}
	// known ignores a property that one of the two recordings does not have.
	known := func(effect, what, old, new string) {
		if old != "" && new != "" {
			add(effect, what, old, new)
		}
	}
	x, y := a.Target, b.Target
	add(effectRefused, "kind of target", x.Kind, y.Kind)
	known(effectRefused, "module", a.Runtime.Module, b.Runtime.Module)
	if a.Runtime.Module == b.Runtime.Module {
		known(packageEffect(a, b), "package", x.ImportPath, y.ImportPath)
	}
	add(effectRefused, "arguments", words(arguments(a)), words(arguments(b)))
	add(effectRefused, "load", loadWords(a.Load), loadWords(b.Load))
	add(effectRefused, "load command", x.LoadCommand, y.LoadCommand)
	known(effectRefused, "headers and bodies of the requests", digest(a.Load), digest(b.Load))
	add(effectNoted, "build flags", words(x.BuildFlags), words(y.BuildFlags))
	add(effectNoted, "environment", words(x.Env), words(y.Env))
	add(effectNoted, "exit code", code(x.ExitCode), code(y.ExitCode))
	known(effectNoted, "Go version", a.Runtime.Go, b.Runtime.Go)
	known(effectNoted, "GOMAXPROCS", number(a.Runtime.GOMAXPROCS), number(b.Runtime.GOMAXPROCS))
	known(effectNoted, "GOGC", number(a.Runtime.GOGC), number(b.Runtime.GOGC))
	add(effectNoted, "GOMEMLIMIT", limit(a), limit(b))
	known(effectNoted, "GOAMD64", a.Runtime.GOAMD64, b.Runtime.GOAMD64)
	known(effectTimes, "machine", machine(a), machine(b))
	return list
}

// packageEffect allows another package of the module if the load is the same, to compare a rewrite
// with the original. Without a load, nothing shows that two programs do the same.
func packageEffect(a, b recording.Manifest) string {
	if a.Load != nil && b.Load != nil {
		return effectNoted
	}
	return effectRefused
}

// arguments returns the program's arguments, with a placeholder for the address that the load goes
// to, because a service may listen on a different port in each run.
func arguments(m recording.Manifest) []string {
	args := slices.Clone(m.Target.Args)
	if m.Load == nil {
		return args
	}
	for _, target := range m.Load.Targets {
		u, err := url.Parse(target[strings.LastIndexByte(target, ' ')+1:])
		if err != nil || u.Port() == "" {
			continue
		}
		for i, a := range args {
			name, value, isFlag := strings.Cut(a, "=")
			if !isFlag {
				name, value = "", a
			}
			if host, port, err := net.SplitHostPort(value); value != u.Port() && (err != nil || port != u.Port() || strings.Contains(host, "/")) {
				continue
			}
			args[i] = "ADDRESS"
			if isFlag {
				args[i] = name + "=ADDRESS"
			}
		}
	}
	return args
}

// loadWords describes a load, except for the address of the service.
func loadWords(l *recording.Load) string {
	if l == nil {
		return ""
	}
	var targets []string
	for _, t := range l.Targets {
		method, raw, _ := strings.Cut(t, " ")
		if u, err := url.Parse(raw); err == nil && u.Host != "" {
			raw = u.RequestURI()
		}
		targets = append(targets, method+" "+raw)
	}
	how := "in a closed loop"
	if l.Rate > 0 {
		how = strconv.FormatFloat(l.Rate, 'g', -1, 64) + "/s"
	}
	return fmt.Sprintf("%s %s on %d connections", some(targets), how, l.Connections)
}

func digest(l *recording.Load) string {
	if l == nil {
		return ""
	}
	return l.Digest[:min(12, len(l.Digest))]
}

func words(list []string) string { return strings.Join(list, " ") }

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func code(c *int) string {
	if c == nil {
		return ""
	}
	return strconv.Itoa(*c)
}

func limit(m recording.Manifest) string {
	if l := m.Limit(); l > 0 {
		return strconv.FormatFloat(l, 'f', 0, 64) + " bytes"
	}
	return ""
}

// machine describes the properties of the machine that times depend on.
func machine(m recording.Manifest) string {
	if m.Machine.Cores == 0 {
		return ""
	}
	text := fmt.Sprintf("%d cores", m.Machine.Cores)
	if m.Machine.CPU != "" {
		text = m.Machine.CPU + ", " + text
	}
	if q := m.Machine.CgroupCPUs; q > 0 {
		text += fmt.Sprintf(" with a quota of %g", q)
	}
	return text
}
