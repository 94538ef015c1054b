package analysis

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hone-go/hone/exectrace/annotations"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/profile"
)

// profiled is a view of a trace that is available as a profile.
type profiled struct {
	view string
	make func(*Set) (*profile.Profile, error)
}

func profiles() []profiled {
	waits := func(v wall.View) profiled {
		return profiled{string(v), func(s *Set) (*profile.Profile, error) { return s.Wall.Profile(v) }}
	}
	said := func(v annotations.View) profiled {
		return profiled{string(v), func(s *Set) (*profile.Profile, error) { return s.Annotations.Profile(v) }}
	}
	return []profiled{
		waits(wall.Time), waits(wall.OffCPU), waits(wall.Wakers), waits(wall.Latency), waits(wall.Calls),
		{"requests", func(s *Set) (*profile.Profile, error) { return s.Requests.Profile() }},
		{"critical", (*Set).slowest},
		{"cpu", func(s *Set) (*profile.Profile, error) { return s.Requests.CPUProfile() }},
		{"parallelism", func(s *Set) (*profile.Profile, error) { return s.Parallelism.Profile() }},
		{"gc", func(s *Set) (*profile.Profile, error) { return s.GC.Profile() }},
		said(annotations.Tasks), said(annotations.Regions), said(annotations.Logs),
	}
}

// Profiles lists the views that Profile accepts. The first is that of all time.
func Profiles() []string {
	var names []string
	for _, p := range profiles() {
		names = append(names, p.view)
	}
	return names
}

// Profile returns a view as a pprof profile. "critical" is the path of the slowest request; it
// requires a Set created with requests.Options.Paths.
func (s *Set) Profile(view string) (*profile.Profile, error) {
	for _, p := range profiles() {
		if p.view == view {
			return p.make(s)
		}
	}
	return nil, fmt.Errorf("no profile %q of a trace; there are %s", view, strings.Join(Profiles(), ", "))
}

func (s *Set) slowest() (*profile.Profile, error) {
	for _, q := range s.Requests.Result().Slowest {
		if q.Path != nil {
			return s.Requests.PathProfile(q.Path)
		}
	}
	return nil, errors.New("no critical path: no request in the trace, or their paths were not kept")
}
