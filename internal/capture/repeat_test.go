package capture

import (
	"slices"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/load"
)

// TestOptionsOf: a recording's description of its run is enough to repeat it, or the error says
// what to give.
func TestOptionsOf(t *testing.T) {
	target := recording.Target{Kind: "service", Dir: "/src/app", RunDir: "/run", Args: []string{"-x"}, Arg: "./app", BuildFlags: []string{"-tags=a"}}
	spec := func(targets ...load.Target) *recording.Load {
		return loadSpec(&load.Options{Targets: targets, Rate: 50, Connections: 3})
	}
	plain := load.Target{URL: "http://127.0.0.1:1/a?b=c"}
	post := load.Target{Method: "POST", URL: "http://127.0.0.1:1/b", Body: []byte("x")}
	header := load.Target{URL: "http://127.0.0.1:1/b", Header: [][2]string{{"A", "b"}}}
	with := func(change func(*recording.Target)) recording.Target {
		c := target
		change(&c)
		return c
	}
	for _, tt := range []struct {
		what   string
		target recording.Target
		load   *recording.Load
		err    string
	}{
		{"a program", target, nil, ""},
		{"a load", target, spec(plain, load.Target{Method: "DELETE", URL: "http://127.0.0.1:1/d"}), ""},
		{"bodies", target, spec(plain, post), "-load"},
		{"headers", target, spec(header), "-load"},
		{"a URL", with(func(t *recording.Target) { t.URL = "http://127.0.0.1:1" }), nil, "running service"},
		{"nothing was piped", with(func(t *recording.Target) { t.Stdin = piped(0) }), nil, ""},
		{"something was piped", with(func(t *recording.Target) { t.Stdin = piped(9) }), nil, "-stdin"},
		{"a tool for the compiler", with(func(t *recording.Target) { t.BuildFlags = []string{"-toolexec=evil"} }), nil, "-build"},
		{"a load command", with(func(t *recording.Target) { t.LoadCommand = "evil" }), nil, "-load_cmd"},
		{"variables", with(func(t *recording.Target) { t.Env = []string{"GOGC=50", "LD_PRELOAD=evil.so", "GOFLAGS=-toolexec=evil"} }), nil, ""},
		{"a file", with(func(t *recording.Target) { t.Stdin = "/in.txt" }), nil, ""},
	} {
		o, err := OptionsOf(recording.Manifest{Target: tt.target, Load: tt.load})
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: error %v, want %s", tt.what, err, tt.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.what, err)
			continue
		}
		if o.Package != "." || o.Dir != "/src/app" || o.RunDir != "/run" || len(o.Args) != 1 || len(o.BuildFlags) != 1 {
			t.Errorf("%s: %+v", tt.what, o)
		}
		if slices.ContainsFunc(o.Env, func(v string) bool { return v != "GOGC=50" }) {
			t.Errorf("%s: the environment is %v", tt.what, o.Env)
		}
		if tt.load != nil && (o.Load.Rate != 50 || o.Load.Connections != 3 || len(o.Load.Targets) != 2 || o.Load.Targets[1].Method != "DELETE" || o.Load.Targets[0].URL != plain.URL) {
			t.Errorf("%s: the load is %+v", tt.what, o.Load)
		}
	}
}
