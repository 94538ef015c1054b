package capture

import (
	"context"
	"debug/buildinfo"
	"runtime/debug"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
)

// begin creates the recording's file. From here on it is kept, whatever happens.
func (r *recorder) begin() error {
	if r.out.Started() {
		return nil
	}
	if r.buildInfo == "" {
		return r.out.Sync()
	}
	return r.add(recording.PartBuildInfo, "", []byte(r.buildInfo))
}

// describeBinary fills in what a built target reveals without running.
func (r *recorder) describeBinary(b *target.Binary) {
	r.onThisMachine()
	r.out.Update(func(m *recording.Manifest) {
		m.Target.ImportPath, m.Target.Dir = b.ImportPath, b.Dir
		m.Target.BuildFlags, m.Target.Probe = b.BuildFlags, b.Probe
		m.Runtime.Go, m.Runtime.Module = b.Go, b.Module
	})
	for _, n := range b.Notes {
		r.note("%s", n)
	}
	if bi, err := buildinfo.ReadFile(b.Path); err == nil {
		r.describeBuild(bi)
	}
}

// describeTarget asks a running program about itself.
func (r *recorder) describeTarget(ctx context.Context, p target.Program) {
	info, err := p.Info(ctx)
	if err != nil {
		return // it exits, or does not answer: the manifest leaves it out
	}
	if bi, err := debug.ParseBuildInfo(info.BuildInfo); err == nil && info.BuildInfo != "" && r.buildInfo == "" {
		r.describeBuild(bi)
	}
	r.out.Update(func(m *recording.Manifest) {
		m.Target.PID = info.PID
		set(&m.Runtime.Go, info.Go)
		set(&m.Runtime.GOOS, info.GOOS)
		set(&m.Runtime.GOARCH, info.GOARCH)
		if info.Known {
			m.Runtime.GOMAXPROCS = info.GOMAXPROCS
			m.Runtime.GOGC = info.GOGC
			m.Runtime.GOMEMLIMIT = info.GOMEMLIMIT
		}
	})
}

func set(field *string, value string) {
	if value != "" {
		*field = value
	}
}

// describeBuild reads a program's build info.
func (r *recorder) describeBuild(bi *debug.BuildInfo) {
	r.buildInfo = bi.String()
	r.out.Update(func(m *recording.Manifest) {
		rt := &m.Runtime
		set(&rt.Go, bi.GoVersion)
		set(&rt.Module, bi.Main.Path)
		set(&rt.Version, bi.Main.Version)
		for _, s := range bi.Settings {
			switch s.Key {
			case "GOOS":
				rt.GOOS = s.Value
			case "GOARCH":
				rt.GOARCH = s.Value
			case "GOAMD64":
				rt.GOAMD64 = s.Value
			case "vcs.revision":
				rt.Revision = s.Value
			case "vcs.modified":
				rt.Dirty = s.Value == "true"
			}
		}
	})
}

// onThisMachine fills in the machine, which is this one.
func (r *recorder) onThisMachine() {
	machine := recording.ThisMachine()
	r.throttled, r.canThrot = r.world.throttled()
	r.out.Update(func(m *recording.Manifest) { m.Machine = machine })
}

// sumThrottled fills in for how long the CPU quota held the program back.
func (r *recorder) sumThrottled() {
	now, ok := r.world.throttled()
	if !ok || !r.canThrot {
		return
	}
	r.out.Update(func(m *recording.Manifest) { m.Machine.Throttled = max(0, now-r.throttled) })
}
