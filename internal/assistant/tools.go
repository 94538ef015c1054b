package assistant

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The inputs of the tools. Assistants read the text in the tags.

type none struct{}

type findingsIn struct {
	Recording string `json:"recording" jsonschema:"name or path of a recording (.hone)"`
	Rules     string `json:"rules,omitempty" jsonschema:"which rules, such as all,-sprintf-simple or cpu,alloc; default all"`
}

type functionIn struct {
	Source   string `json:"source" jsonschema:"name or path of a recording, or path of a pprof file"`
	Function string `json:"function" jsonschema:"regular expression of function names, or FILE:LINE for why"`
	Index    string `json:"sample_index,omitempty" jsonschema:"cpu, alloc_space, alloc_objects, inuse_space, contentions, delay"`
}

type topIn struct {
	Source string `json:"source" jsonschema:"name or path of a recording, or path of a pprof file"`
	Index  string `json:"sample_index,omitempty" jsonschema:"cpu, alloc_space, alloc_objects, inuse_space, contentions, delay"`
	Focus  string `json:"focus,omitempty" jsonschema:"only stacks with a function that matches this regular expression"`
	Sort   string `json:"sort,omitempty" jsonschema:"flat or cum"`
	Count  int    `json:"count,omitempty" jsonschema:"number of functions; default 20"`
}

type traceIn struct {
	Source  string `json:"source" jsonschema:"name or path of a recording, or path of a trace"`
	View    string `json:"view,omitempty" jsonschema:"summary, requests, critical, blocking, wakers, sched, gc, goroutines, syscalls or parallelism; default requests"`
	Request int    `json:"request,omitempty" jsonschema:"for critical: the number of a request, from the view requests"`
}

type pairIn struct {
	Old   string `json:"old" jsonschema:"before: name or path of a recording, or path of a file"`
	New   string `json:"new" jsonschema:"after"`
	Index string `json:"sample_index,omitempty" jsonschema:"for diff: cpu, alloc_space, …"`
}

type ruleIn struct {
	ID string `json:"id" jsonschema:"ID of a rule, such as concat-loop"`
}

type runIn struct {
	Package string   `json:"package" jsonschema:"directory of a main package (of any package, if bench is given) below the allowed directories, such as ./cmd/server"`
	Load    string   `json:"load,omitempty" jsonschema:"for a service: the address to send requests to while it runs, on loopback, such as http://127.0.0.1:8080/path"`
	Bench   string   `json:"bench,omitempty" jsonschema:"run the benchmarks that match this regular expression instead of a program"`
	Args    []string `json:"args,omitempty" jsonschema:"arguments of the program"`
	Seconds int      `json:"seconds,omitempty" jsonschema:"length of the recording, 1 to 120; default 15"`
}

func (t tools) recordings(none) ([]string, error) { return []string{"recordings"}, nil }

func (t tools) findings(in findingsIn) ([]string, error) {
	src, err := t.source(in.Recording)
	return append(flags([]string{"findings"}, "rules", in.Rules), src), err
}

func (t tools) why(in functionIn) ([]string, error)  { return t.function("why", in, false) }
func (t tools) list(in functionIn) ([]string, error) { return t.function("list", in, true) }
func (t tools) peek(in functionIn) ([]string, error) { return t.function("peek", in, true) }

func (t tools) function(command string, in functionIn, index bool) ([]string, error) {
	src, err := t.source(in.Source)
	if err != nil {
		return nil, err
	}
	fn, err := pattern(in.Function)
	args := []string{command}
	if index {
		args = flags(args, "sample_index", in.Index)
	}
	return append(args, fn, src), err
}

func (t tools) top(in topIn) ([]string, error) {
	src, err := t.source(in.Source)
	if in.Count <= 0 || in.Count > 200 {
		in.Count = 20
	}
	args := flags([]string{"top"}, "sample_index", in.Index, "focus", in.Focus, "nodecount", number(in.Count))
	switch in.Sort {
	case "":
	case "flat", "cum":
		args = append(args, "-"+in.Sort)
	default:
		return nil, fmt.Errorf("sort must be flat or cum, not %q", in.Sort)
	}
	return append(args, src), err
}

func (t tools) trace(in traceIn) ([]string, error) {
	views := []string{"summary", "requests", "critical", "blocking", "wakers", "sched", "gc", "goroutines", "syscalls", "parallelism"}
	if in.View == "" {
		in.View = "requests"
	}
	if !slices.Contains(views, in.View) {
		return nil, fmt.Errorf("view must be one of %s", strings.Join(views, ", "))
	}
	src, err := t.source(in.Source)
	args := []string{"trace", in.View}
	if in.View == "critical" {
		args = flags(args, "request", number(in.Request))
	}
	return append(args, src), err
}

func (t tools) compare(in pairIn) ([]string, error) { return t.pair("compare", in, false) }
func (t tools) diff(in pairIn) ([]string, error)    { return t.pair("diff", in, true) }

func (t tools) pair(command string, in pairIn, index bool) ([]string, error) {
	old, err := t.source(in.Old)
	if err != nil {
		return nil, err
	}
	new, err := t.source(in.New)
	args := []string{command}
	if index {
		args = flags(args, "sample_index", in.Index)
	}
	return append(args, old, new), err
}

func (t tools) rule(in ruleIn) ([]string, error) {
	id, err := pattern(in.ID)
	return []string{"rules", id}, err
}

const (
	mostSeconds = 120
	usualLength = 15 * time.Second
)

func (t tools) run(in runIn) ([]string, error) {
	dir := in.Package
	if dir == "" {
		dir = "."
	}
	path, err := t.source(dir)
	if err != nil {
		return nil, err
	}
	if in.Seconds < 0 || in.Seconds > mostSeconds {
		return nil, fmt.Errorf("seconds must be from 1 to %d", mostSeconds)
	}
	length := usualLength
	if in.Seconds > 0 {
		length = time.Duration(in.Seconds) * time.Second
	}
	if in.Load != "" && in.Bench != "" {
		return nil, errors.New("give either load or bench, not both")
	}
	args := flags([]string{"run", "-q", "-duration=" + length.String(), "-timeout=" + (10 * time.Minute).String()}, "bench", in.Bench)
	if in.Load != "" {
		if err := loopback(in.Load); err != nil {
			return nil, err
		}
		args = append(args, "-load="+in.Load)
	}
	args = append(args, filepath.Clean(path))
	if len(in.Args) > 0 {
		args = append(append(args, "--"), in.Args...)
	}
	return args, nil
}

// loopback rejects load for other machines: an assistant may have read the address anywhere.
func loopback(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("load must be an address such as http://127.0.0.1:8080/path, not %q", address)
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("load goes to loopback only, not to %s: run hone by hand for other machines", u.Hostname())
	}
	return nil
}
