package capture

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/load"
)

// OptionsOf returns the options that record again what a recording measured: its target, its
// arguments, its load. Where the recording does not keep something (headers and bodies of requests,
// piped input) the error names the flag to give.
//
// A recording may come from anywhere, and must not choose the programs that run here: build flags
// that run a program, a load command and variables other than the runtime's are not taken from it.
func OptionsOf(m recording.Manifest) (Options, error) {
	t := m.Target
	if t.URL != "" || t.Dir == "" {
		return Options{}, errors.New("the recording is of a running service: hone cannot start another one; name its package")
	}
	flags, refused := gocode.HarmlessFlags(t.BuildFlags)
	if len(refused) > 0 {
		return Options{}, fmt.Errorf("the target was built with %s, and a recording must not choose what runs here: give the flags again with -build", strings.Join(refused, ", "))
	}
	if t.LoadCommand != "" {
		return Options{}, fmt.Errorf("the load was the command %q, and a recording must not choose what runs here: give it again with -load_cmd", t.LoadCommand)
	}
	var env []string
	for _, v := range t.Env {
		if name, _, _ := strings.Cut(v, "="); slices.Contains([]string{"GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT"}, name) {
			env = append(env, v)
		}
	}
	o := Options{Package: ".", Dir: t.Dir, RunDir: t.RunDir, Args: t.Args, Bench: t.Bench, BuildFlags: flags, Settings: env, Env: env, Arg: t.Arg}
	if t.Stdin != "" && t.Stdin != piped(0) {
		if !filepath.IsAbs(t.Stdin) {
			return o, errors.New("the program read what was piped into hone, which the recording does not keep: record it with -stdin FILE")
		}
		o.Stdin = t.Stdin
	}
	if m.Load == nil {
		return o, nil
	}
	expect, err := load.ParseExpect(m.Load.Expect)
	if err != nil {
		return o, err
	}
	o.Load = &load.Options{Rate: m.Load.Rate, Connections: m.Load.Connections, Expect: expect}
	for _, text := range m.Load.Targets {
		target, ok := load.ParseTarget(text)
		if !ok {
			return o, errors.New("the recording's load cannot be read: give it again with -load")
		}
		if target.Method == http.MethodGet {
			target.Method = ""
		}
		o.Load.Targets = append(o.Load.Targets, target)
	}
	if m.Load.Digest != "" && m.Load.Digest != digest(o.Load.Targets) {
		return o, errors.New("the requests had headers or bodies, which a recording does not keep: give the load again with -load")
	}
	return o, nil
}
