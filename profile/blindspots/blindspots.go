package blindspots

import (
	"math"
	"slices"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/report"
	"github.com/hone-go/hone/stats"
)

// Surroundings are facts about the recording of a profile that the profile does not contain. Zero
// fields are unknown.
type Surroundings struct {
	Cores      int     // number of cores that the program could use at a time (GOMAXPROCS)
	CPUSeconds float64 // CPU time of the program during the profile, as counted by the operating system
}

// Spots is what the numbers of a view do not show although a reader may think that they do. A field
// is nil or empty when it does not apply.
type Spots struct {
	CPU *CPUUse    // CPU profiles that have a duration
	Cut *CutStacks // stacks that the runtime truncated
	// Sampling is set if the smallest value shown is based on few samples of a CPU profile.
	Sampling *Sampling
	// NoLabels names the options about labels that matched nothing because the runtime records no
	// labels in profiles of this kind.
	NoLabels []string
}

// CPUUse compares the CPU time of a whole profile, before any filter, with its duration.
type CPUUse struct {
	Seconds float64 // CPU time
	Over    float64 // wall-clock time
	Cores   int     // number of cores that the program could use; 0 when unknown
	// More reports whether Seconds exceeds what Cores can provide by more than chance explains.
	More bool
	// Counted is the CPU time that the operating system counted, in seconds, if the profile misses
	// more than a tenth of it and chance does not explain that; else 0.
	Counted float64
}

// Busy returns how many cores were busy on average.
func (u *CPUUse) Busy() float64 { return u.Seconds / u.Over }

// CutStacks counts the stacks of a whole profile that are as deep as the runtime records. Their
// outermost frames are missing, so the cum of callers is too low.
type CutStacks struct {
	Depth int     // number of frames that the runtime keeps, including inlined ones
	Rows  int     // number of sample rows with truncated stacks
	Share float64 // of the value, 0 to 1
}

// Sampling says how precisely a value based on few samples is known.
type Sampling struct {
	PeriodSeconds float64        // CPU time between two samples of a thread
	Value         int64          // in the sample type's unit
	Samples       int64          // number of samples behind the value
	Bounds        stats.Interval // of the value, 95 %
}

// wellKnown is the number of samples from which on Sampling is not reported: the value is known to
// ±10 %.
const wellKnown = 400

// Of returns the blind spots of a view. least is the smallest magnitude that a report of the view
// shows, 0 for none.
func Of(v *report.View, least int64, s Surroundings) Spots {
	whole := v.Whole
	if whole == nil {
		whole = v.Profile
	}
	return Spots{
		CPU: cpuUse(whole, s), Cut: cutStacks(whole, v.Index), Sampling: sampling(v, least), NoLabels: noLabels(v, whole),
	}
}

// isCPU reports whether a profile was made by the runtime's CPU profiler.
func isCPU(p *profile.Profile) bool {
	return p.PeriodType == profile.ValueType{Type: "cpu", Unit: "nanoseconds"} && p.Period > 0 && p.TypeIndex("cpu") >= 0
}

func cpuUse(p *profile.Profile, s Surroundings) *CPUUse {
	if !isCPU(p) || p.DurationNanos <= 0 {
		return nil
	}
	var nanos int64
	for _, x := range p.Values(p.TypeIndex("cpu")) {
		if x < 0 { // a difference
			return nil
		}
		nanos += x
	}
	u := &CPUUse{Seconds: float64(nanos) / 1e9, Over: float64(p.DurationNanos) / 1e9, Cores: s.Cores}
	period := float64(p.Period) / 1e9
	bounds := stats.Poisson(nanos / p.Period).Scale(period)
	u.More = s.Cores > 0 && bounds.Low > u.Over*float64(s.Cores)
	if s.CPUSeconds-u.Seconds > 0.1*s.CPUSeconds && s.CPUSeconds > bounds.High {
		u.Counted = s.CPUSeconds
	}
	return u
}

// The runtime records a limited number of frames of a stack, the innermost ones. Stacks in CPU
// profiles lack only runtime.goexit, so a stack of 64 frames is one whose outermost frames are
// missing (maxCPUProfStack in runtime/cpuprof.go). In other profiles the limit is 128 since Go
// 1.23, unless GODEBUG=profstackdepth changes it, and memory profiles also lack the allocator's
// frames (runtime/pprof/protomem.go).
const (
	cpuDepth       = 64
	otherDepth     = 128
	allocatorDepth = 4
)

// cutStacks counts the stacks that reach the runtime's limit. If a stack is deeper, the profile has
// another origin and another limit, and the result is nil.
func cutStacks(p *profile.Profile, index int) *CutStacks {
	c := &CutStacks{Depth: otherDepth}
	from := otherDepth
	switch {
	case isCPU(p):
		c.Depth, from = cpuDepth, cpuDepth
	case isHeap(p):
		from = otherDepth - allocatorDepth
	case !isContention(p) && !isGoroutines(p):
		return nil
	}
	lines := make([]int32, len(p.Locations))
	for i := range p.Locations {
		lines[i] = int32(max(1, len(p.Locations[i].Lines)))
	}
	var cut, total float64
	for row := range p.NumSamples() {
		stack := p.Stack(row)
		depth := 0
		for _, l := range stack {
			depth += int(lines[l])
		}
		if depth > c.Depth {
			return nil
		}
		value := math.Abs(float64(p.Values(index)[row]))
		total += value
		if depth >= from {
			c.Rows++
			cut += value
		}
	}
	if c.Rows == 0 || cut == 0 {
		return nil
	}
	c.Share = cut / total
	return c
}

func isHeap(p *profile.Profile) bool {
	return p.TypeIndex("alloc_space") >= 0 || p.TypeIndex("inuse_space") >= 0
}

func isContention(p *profile.Profile) bool {
	return p.TypeIndex("contentions") >= 0 && p.TypeIndex("delay") >= 0
}

func isGoroutines(p *profile.Profile) bool { return p.TypeIndex("goroutine") >= 0 }

// sampling returns how precisely a value based on few samples is known, nil for other values.
func sampling(v *report.View, value int64) *Sampling {
	p := v.Profile
	if !isCPU(p) || v.Mean || value <= 0 {
		return nil
	}
	each := int64(1) // in units of the column samples
	switch p.SampleTypes[v.Index].Type {
	case "cpu":
		each = p.Period
	case "samples":
	default:
		return nil
	}
	n := value / each
	if n == 0 || n >= wellKnown {
		return nil
	}
	return &Sampling{PeriodSeconds: float64(p.Period) / 1e9, Value: value, Samples: n, Bounds: stats.Poisson(n).Scale(float64(each))}
}

// noLabels names the options about labels that matched nothing because there are no labels: the
// runtime records goroutine labels only in CPU and goroutine profiles.
func noLabels(v *report.View, whole *profile.Profile) []string {
	if !isHeap(whole) && !isContention(whole) {
		return nil
	}
	keys := map[string]bool{}
	for set := range whole.NumLabelSets() {
		for _, l := range whole.LabelsOf(set) {
			if l.Str != "" && l.Key != profile.BaseLabel {
				return nil // another program added labels
			}
			keys[l.Key] = true
		}
	}
	var options []string
	for _, name := range v.Unmatched {
		switch name {
		case "tagfocus", "tagignore", "tagshow", "taghide":
			options = append(options, name)
		}
	}
	unknown := func(key string) bool { return !keys[key] }
	if slices.ContainsFunc(v.TagRoot, unknown) {
		options = append(options, "tagroot")
	}
	if slices.ContainsFunc(v.TagLeaf, unknown) {
		options = append(options, "tagleaf")
	}
	return options
}
