package cli

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/source"
	"github.com/hone-go/hone/profile/blindspots"
	"github.com/hone-go/hone/profile/report"
)

// view is the input of a report: the sum of the sources, minus the base, with the options applied
// that select samples and frames. The options that shape the report (Order, Granularity, Limit,
// Format, …) are in View.
type view struct {
	*report.View
	Source *source.Source // its name and code, and the profile before the options
	prog   *progress      // for the messages of the code's index; to be cleared before the page
	Own    []float64      // hone's own work in each column, if it was left out; otherwise nil
	Binary string         // the program, if it was named before the sources as in pprof; otherwise ""
}

// view reads the sources that args name and applies the flags.
func (p *profileFlags) view(ctx context.Context, env Env, args []string) (*view, error) {
	o, err := p.options()
	if err != nil {
		return nil, err
	}
	bases, against, err := p.bases()
	if err != nil {
		return nil, err
	}
	if p.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(p.timeout))
		defer cancel()
	}
	binary, args := splitBinary(args)
	if len(args) == 0 {
		args = []string{""}
	}
	cfg, prog, err := p.session(env)
	if err != nil {
		return nil, err
	}
	defer prog.clear()
	read, err := p.source(o.SampleIndex)
	if err != nil {
		return nil, err
	}
	open := env.opener(cfg, read)
	src, err := env.open(ctx, open, args)
	if err != nil {
		return nil, err
	}
	var own []float64
	if p.programOnly {
		own = src.LeaveOutMeasurement()
	}
	if len(bases) > 0 {
		base, err := env.open(ctx, open, bases)
		if err != nil {
			return nil, err
		}
		if p.perRequest {
			if err := perRequest(base, src, o.SampleIndex); err != nil {
				return nil, err
			}
		}
		if err := src.Against(base, against); err != nil {
			return nil, err
		}
	}
	if p.comment != "" {
		commented := *src.Profile
		commented.Comments = append(slices.Clone(commented.Comments), p.comment)
		src.Profile = &commented
	}
	o.Cache = src.Reports
	v, err := report.NewView(src.Profile, o)
	if err != nil {
		return nil, usagef("%s: %v", src.Name, err)
	}
	prog.clear()
	for _, note := range src.Notes {
		env.say("hone: %s", note)
	}
	for _, name := range v.Unmatched {
		env.say("hone: -%s matched nothing", name)
	}
	return &view{View: v, Source: src, Own: own, Binary: binary, prog: prog}, nil
}

// perRequest scales the values of base to the number of requests (or operations, runs, seconds) of
// src.
func perRequest(base, src *source.Source, sampleIndex string) error {
	side := func(s *source.Source) (compare.DiffSource, error) {
		index, err := s.Profile.SampleIndex(sampleIndex)
		if err != nil {
			return compare.DiffSource{}, usagef("%s: %v", s.Name, err)
		}
		return compare.DiffSource{Name: s.Name, Profile: s.Profile, Index: index, Total: s.Profile.Total(index), Recording: s.Recording, Part: s.Part}, nil
	}
	old, err := side(base)
	if err != nil {
		return err
	}
	new, err := side(src)
	if err != nil {
		return err
	}
	factor, per := compare.Scale(old, new)
	if factor == 1 {
		return nil
	}
	base.Profile = base.Profile.MapValues(func(_ int, v int64) int64 { return int64(math.Round(float64(v) * factor)) })
	src.Notes = append(slices.Clip(src.Notes), fmt.Sprintf("differences are per %s: the values of %s are multiplied by %.4g", per, base.Name, factor))
	return nil
}

// blindSpots returns what the view does not show, with what the recording says about it.
func (v *view) blindSpots(least int64) blindspots.Spots {
	return blindspots.Of(v.View, least, v.Source.Surroundings())
}

// source returns the options for reading the sources.
func (p *profileFlags) source(sampleIndex string) (source.Options, error) {
	o := source.Options{Seconds: p.seconds, SampleIndex: sampleIndex, From: p.from, To: p.to}
	if p.from < 0 || p.to < 0 || p.to > 0 && p.to <= p.from {
		return o, usagef("-from %s -to %s: give times after the trace's start, the second one later than the first", p.from, p.to)
	}
	if p.seconds < 0 {
		return o, usagef("-seconds %d: give a number of seconds above 0", p.seconds)
	}
	var err error
	if o.Header, err = parseHeaders(p.connect.headers); err != nil {
		return o, err
	}
	o.TLS, err = p.connect.tls()
	return o, err
}

// splitBinary removes the program from the start of the arguments, as in `go tool pprof BINARY
// SOURCE`. Profiles of Go programs do not need it.
func splitBinary(args []string) (binary string, sources []string) {
	if len(args) > 1 && isBinary(args[0]) {
		return args[0], args[1:]
	}
	return "", args
}

// isBinary reports whether a file is an ELF, Mach-O or PE executable, by its first bytes.
func isBinary(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [4]byte
	n, _ := f.Read(head[:])
	for _, magic := range []string{"\x7fELF", "MZ", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe"} {
		if strings.HasPrefix(string(head[:n]), magic) {
			return true
		}
	}
	return false
}
