package source

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/blindspots"
	"github.com/hone-go/hone/profile/report"
	"github.com/hone-go/hone/profile/textual"
)

// Source is a profile and what is known about its code.
type Source struct {
	Name    string // as the user typed it
	Profile *profile.Profile
	Code    *gocode.Index
	Reports *report.Cache // what reports of the profile have in common, if they come one after the other; otherwise nil

	// Recording is the recording that the profile is a part of, and Part the name of the part; nil
	// and "" for other sources.
	Recording *recording.Manifest
	Part      string // its name in the recording, such as cpu.pprof
	// KnownBuild says that the compiler can be run as it was when the program was built: its
	// settings and the location of the main package are known. It is true for recordings of
	// packages.
	KnownBuild bool

	// Counts and Inputs are what the recording counted; nil if it did not, or if they cannot be
	// read.
	Counts *counts.Index
	Inputs *inputs.Counts

	Notes []string // what the reader should know about the origin of the profile
}

// LeaveOutMeasurement removes the work of hone itself from the profile of a recording: that of the
// probe and of the endpoints that it requested. shares holds the share of each column that was
// removed, from 0 to 1. It is nil for other sources, in which profiling may be the purpose of the
// program.
func (s *Source) LeaveOutMeasurement() (shares []float64) {
	if s.Recording == nil {
		return nil
	}
	s.Profile, shares = site.WithoutMeasurement(s.Profile, s.Code)
	return shares
}

// Surroundings returns what the recording contains about how the profile was taken.
func (s *Source) Surroundings() blindspots.Surroundings {
	if s.Recording == nil {
		return blindspots.Surroundings{}
	}
	around := blindspots.Surroundings{Cores: s.Recording.Runtime.GOMAXPROCS}
	if around.Cores == 0 {
		around.Cores = s.Recording.Machine.Cores
	}
	for _, part := range s.Recording.Parts {
		if part.Name != s.Part {
			continue
		}
		for _, phase := range s.Recording.Phases {
			if phase.Name == part.Phase {
				around.CPUSeconds = phase.CPUSeconds
			}
		}
	}
	return around
}

// open reads one source as Profile does.
func (o Opener) open(ctx context.Context, arg string) (*Source, error) {
	name := arg
	if arg == "" {
		last, err := o.Shelf().Last()
		if err != nil {
			return nil, err
		}
		arg = last
	}
	plain, view := splitTrace(arg)
	if plain == "-" {
		return o.read(ctx, o.Stdin, "standard input", "", view)
	}
	if u, ok := urlOf(arg); ok {
		p, err := o.fetchProfile(ctx, u)
		if err != nil {
			return nil, err
		}
		return o.withCode(ctx, arg, p)
	}
	file, part, isRecording := splitRecording(arg)
	if isRecording {
		return o.openRecordingPart(ctx, name, file, part)
	}
	f, err := os.Open(plain)
	if err != nil {
		return nil, noFile(plain, err)
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.IsDir() {
		return nil, fmt.Errorf("%s is a directory; name the profiles in it, e.g. %s", arg, filepath.Join(arg, "*.pprof"))
	}
	return o.read(ctx, f, arg, plain, view)
}

// read reads a profile of any format, or a trace. path is that of a file, else "".
func (o Opener) read(ctx context.Context, r io.Reader, name, path, view string) (*Source, error) {
	br := bufio.NewReaderSize(r, textual.HeadBytes)
	head, _ := br.Peek(textual.HeadBytes) // decoding returns the same error
	var p *profile.Profile
	var notes []string
	var err error
	if view != "" || isTrace(head) {
		p, notes, err = o.traceProfile(ctx, br, path, view)
	} else if o.From != 0 || o.To != 0 {
		err = errors.New("-from and -to are for execution traces; a profile does not contain the times of its samples")
	} else {
		p, err = decode(br)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s, err := o.withCode(ctx, name, p)
	if err == nil {
		s.Notes = notes
	}
	return s, err
}

// Profile reads one or more sources and sums them. A source is a file or "-" for stdin with a pprof
// profile or one of the texts that package textual reads, a recording ("rec.hone",
// "rec.hone:allocs"), or the URL of a pprof endpoint; "" is the last recording. An execution trace,
// which may be a file, stdin or a part of a recording, becomes the profile of a view:
// "trace.out:blocking", "rec.hone:trace:blocking".
//
// URLs are fetched concurrently, so that the replicas of a service are profiled at the same time.
// All other sources are read one after the other, so that only the sum and one of them are in
// memory. The code is that of the first.
func (o Opener) Profile(ctx context.Context, args ...string) (*Source, error) {
	if len(args) == 1 {
		return o.open(ctx, args[0])
	}
	// The index of the code continues to use ctx, so only fetching is cancelled here.
	fetching, cancel := context.WithCancel(ctx)
	defer cancel() // cancels the remaining fetches when another source fails
	fetched := o.fetchAll(fetching, args)
	sum := profile.NewMerger()
	var first *Source
	for i, arg := range args {
		var s *Source
		var err error
		if fetched[i] == nil {
			s, err = o.open(ctx, arg)
		} else if f := <-fetched[i]; f.err != nil {
			err = f.err
		} else {
			s, err = o.withCode(ctx, arg, f.p)
		}
		if err != nil {
			return nil, err
		}
		if i == 0 {
			first = s
		}
		gone, err := sum.AddShared(s.Profile)
		if err != nil {
			return nil, fmt.Errorf("add %s to %s: %w", s.Name, first.Name, err)
		}
		if len(gone) > 0 {
			first.Notes = append(first.Notes, unlike(s.Name, "the sources before it", gone))
		}
	}
	var err error
	first.Profile, err = sum.Profile()
	first.Name = fmt.Sprintf("%s and %d more", first.Name, len(args)-1)
	return first, err
}

// unlike returns a note about the sample types that were dropped because two sources differ.
func unlike(name, other string, dropped []profile.ValueType) string {
	var names []string
	for _, t := range dropped {
		names = append(names, t.Type)
	}
	return fmt.Sprintf("%s and %s have different values: without %s, which not all of them have", name, other, strings.Join(names, ", "))
}

// Against subtracts a base. If the sample types differ, those that both have are compared.
func (s *Source) Against(base *Source, o profile.Subtraction) error {
	p, b, gone, err := profile.Share(s.Profile, base.Profile)
	if err == nil {
		s.Profile, err = profile.Subtract(p, b, o)
	}
	if err != nil {
		return fmt.Errorf("%s and %s: %w", s.Name, base.Name, err)
	}
	s.Notes = slices.Concat(s.Notes, base.Notes)
	if len(gone) > 0 {
		s.Notes = append(s.Notes, unlike(s.Name, base.Name, gone))
	}
	s.Name += " − " + base.Name
	return nil
}

// decode reads a profile in any format.
func decode(r io.Reader) (*profile.Profile, error) {
	br := bufio.NewReaderSize(r, textual.HeadBytes)
	head, _ := br.Peek(textual.HeadBytes) // decoding returns the same error
	switch {
	case textual.Detect(head) != "":
		return textual.Decode(br, 0)
	case bytes.HasPrefix(head, []byte("go 1.")):
		return nil, errors.New("an execution trace, not a profile: hone trace reads it, also from a URL")
	}
	return profile.Decode(br, 0)
}

func (o Opener) withCode(ctx context.Context, name string, p *profile.Profile) (*Source, error) {
	cfg, known := o.codeOf(p)
	code, err := gocode.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &Source{Name: name, Profile: p, Code: code, KnownBuild: known}, nil
}

// splitRecording splits "rec.hone:allocs".
func splitRecording(arg string) (file, part string, ok bool) {
	if strings.HasSuffix(arg, ".hone") {
		return arg, "", true
	}
	i := strings.LastIndex(arg, ".hone:")
	if i < 0 {
		return "", "", false
	}
	return arg[:i+len(".hone")], arg[i+len(".hone:"):], true
}

func (o Opener) openRecordingPart(ctx context.Context, name, file, part string) (*Source, error) {
	rec, err := o.Recording(file)
	if err != nil {
		return nil, err
	}
	defer rec.Close()
	asked := part
	if view, ok := partTraceView(part); ok {
		return o.traceOfPart(ctx, rec, strings.TrimSuffix(cmp.Or(name, file), ":"+asked), view)
	}
	if o.From != 0 || o.To != 0 {
		return nil, fmt.Errorf("%s: -from and -to are for execution traces: %s:trace:blocking", file, file)
	}
	if part == "" {
		part = partFor(o.SampleIndex)
	}
	if slices.Contains(analysis.Profiles(), part) && !rec.Has(part+".pprof") {
		return nil, fmt.Errorf("%s has no profile %q; of its execution trace there is %s:trace:%s", file, part, file, part)
	}
	if !strings.Contains(part, ".") {
		part += ".pprof"
	}
	p, err := readPart(rec, part, decode)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if part == recording.PartGoroutine && rec.Has(recording.PartGoroutineTxt) {
		p = o.withStates(rec, p)
	}
	code, err := o.Code(ctx, rec, p)
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = file
	}
	name = strings.TrimSuffix(name, ":"+asked) + ":" + strings.TrimSuffix(part, ".pprof")
	s := &Source{Name: name, Profile: p, Code: code, Recording: &rec.Manifest, Part: part, KnownBuild: rec.Manifest.Target.Dir != ""}
	if s.Counts, err = Executions(rec); err != nil {
		s.Notes = append(s.Notes, fmt.Sprintf("executions are not shown: %v", err))
	}
	if s.Inputs, err = Inputs(rec); err != nil {
		s.Notes = append(s.Notes, fmt.Sprintf("inputs are not shown: %v", err))
	}
	return s, nil
}

// traceOfPart reads the trace of a recording as a profile.
func (o Opener) traceOfPart(ctx context.Context, rec *recording.Recording, name, view string) (*Source, error) {
	r, err := rec.Part(recording.PartTrace)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer r.Close()
	p, notes, err := o.traceProfile(ctx, r, traceArg(rec), view)
	if err != nil {
		return nil, fmt.Errorf("%s:trace: %w", name, err)
	}
	code, err := o.Code(ctx, rec, p)
	if err != nil {
		return nil, err
	}
	name += ":trace"
	if view != "" {
		name += ":" + view
	}
	return &Source{Name: name, Profile: p, Code: code, Recording: &rec.Manifest, Part: recording.PartTrace,
		KnownBuild: rec.Manifest.Target.Dir != "", Notes: notes}, nil
}

// withStates joins a goroutine profile with the dump in the same recording, which has states,
// waiting times and creators.
func (o Opener) withStates(rec *recording.Recording, p *profile.Profile) *profile.Profile {
	dump, err := readPart(rec, recording.PartGoroutineTxt, func(r io.Reader) ([]textual.Goroutine, error) {
		return textual.Goroutines(r, 0)
	})
	if err != nil {
		o.Say("read", fmt.Sprintf("goroutines are shown without their states: %v", err))
		return p
	}
	return textual.Join(p, dump)
}

// readPart reads a part of a recording with read.
func readPart[T any](rec *recording.Recording, name string, read func(io.Reader) (T, error)) (v T, err error) {
	r, err := rec.Part(name)
	if err != nil {
		return v, err
	}
	defer r.Close()
	if v, err = read(r); err != nil {
		return v, fmt.Errorf("%s: %w", name, err)
	}
	return v, nil
}

// PartOf returns the part that open reads if arg is a recording without a part. For other sources,
// where sampleIndex does not matter, it returns "".
func PartOf(arg, sampleIndex string) string {
	if arg == "" || strings.HasSuffix(arg, ".hone") {
		return partFor(sampleIndex)
	}
	return ""
}

// partFor maps a sample index to the part of a recording that holds it.
func partFor(sampleIndex string) string {
	switch {
	case strings.HasPrefix(sampleIndex, "alloc"):
		return recording.PartAllocs
	case strings.HasPrefix(sampleIndex, "inuse"):
		return recording.PartHeap
	case sampleIndex == "contentions", sampleIndex == "delay":
		return recording.PartMutex
	}
	return recording.PartCPU
}
