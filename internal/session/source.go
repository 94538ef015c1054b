package session

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/textual"
)

// Source is a profile and what is known of the code behind it.
type Source struct {
	Name    string // as the user typed it
	Profile *profile.Profile
	Code    *gocode.Index

	// Of which recording the profile is a part; nil and "" for other sources.
	Recording *recording.Manifest
	Part      string // as the recording names it: cpu.pprof
	// KnownBuild says that the compiler can be asked as it was when the program was built: its
	// settings are known, and where its main package is. It is so for recordings of packages.
	KnownBuild bool

	Notes []string // what the reader should know of how the profile came about
}

// LeaveOutMeasurement takes what hone itself did out of the profile of a recording: the
// probe's work and that of the endpoints it asked. shares say what each column lost, from 0 to 1; nil
// for other sources, where profiling may be what the program is for.
func (s *Source) LeaveOutMeasurement() (shares []float64) {
	if s.Recording == nil {
		return nil
	}
	s.Profile, shares = site.WithoutMeasurement(s.Profile, s.Code)
	return shares
}

// Surroundings are what the recording knows of the profile's making.
func (s *Source) Surroundings() profile.Surroundings {
	if s.Recording == nil {
		return profile.Surroundings{}
	}
	around := profile.Surroundings{Cores: s.Recording.Runtime.GOMAXPROCS}
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

// SourceOptions says how to read a source.
type SourceOptions struct {
	// Seconds is the length of a CPU profile taken from a URL, 0 = 30. Of other
	// profiles it is the time between two takings, which are subtracted; 0 = one taking.
	Seconds int
	// SampleIndex chooses the part of a recording when the user named none:
	// alloc_space means allocs, inuse_space heap, …; "" means cpu.
	SampleIndex string
	TLS         *tls.Config // for https URLs; nil for the system's
	Header      [][2]string // name and value of what is sent with requests
}

// OpenSource reads SOURCE: a file or "-" for stdin with a pprof profile or one of the
// texts that package textual reads, a recording ("rec.hone", "rec.hone:allocs"), or a
// URL of a pprof endpoint. "" is the last recording. Of an execution trace, which may be a file, stdin or part of
// a recording, it makes the profile of a view: "trace.out:blocking", "rec.hone:trace:blocking".
func OpenSource(ctx context.Context, c Config, arg string, stdin io.Reader, o SourceOptions) (*Source, error) {
	name := arg
	if arg == "" {
		last, err := Last(c)
		if err != nil {
			return nil, err
		}
		arg = last
	}
	plain, view := splitTrace(arg)
	if plain == "-" {
		return c.read(ctx, stdin, "standard input", view)
	}
	if u, ok := urlOf(arg); ok {
		p, err := fetchProfile(ctx, c, u, o)
		if err != nil {
			return nil, err
		}
		return withCode(ctx, c, arg, p)
	}
	file, part, isRecording := splitRecording(arg)
	if isRecording {
		return openRecordingPart(ctx, c, name, file, part, o)
	}
	f, err := os.Open(plain)
	if err != nil {
		return nil, noFile(plain, err)
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.IsDir() {
		return nil, fmt.Errorf("%s is a directory; name the profiles in it, e.g. %s", arg, filepath.Join(arg, "*.pprof"))
	}
	return c.read(ctx, f, arg, view)
}

// read reads what may be a profile of any format, or a trace.
func (c Config) read(ctx context.Context, r io.Reader, name, view string) (*Source, error) {
	br := bufio.NewReaderSize(r, textual.HeadBytes)
	head, _ := br.Peek(textual.HeadBytes) // an error comes again when it is decoded
	var p *profile.Profile
	var notes []string
	var err error
	if view != "" || isTrace(head) {
		p, notes, err = traceProfile(ctx, c, br, view)
	} else {
		p, err = decode(br)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s, err := withCode(ctx, c, name, p)
	if err == nil {
		s.Notes = notes
	}
	return s, err
}

// OpenSources reads several sources and sums them. URLs are fetched side by side, so that
// the replicas of a service are profiled at the same time; all else is read one after the
// other, so that only the sum and one of them are in memory. The code is that of the first.
func OpenSources(ctx context.Context, c Config, args []string, stdin io.Reader, o SourceOptions) (*Source, error) {
	if len(args) == 1 {
		return OpenSource(ctx, c, args[0], stdin, o)
	}
	// The index of the code goes on using ctx, so only the fetching ends here.
	fetching, cancel := context.WithCancel(ctx)
	defer cancel() // what is still being fetched when another source fails
	fetched := fetchAll(fetching, c, args, o)
	sum := profile.NewMerger()
	var first *Source
	for i, arg := range args {
		var s *Source
		var err error
		if fetched[i] == nil {
			s, err = OpenSource(ctx, c, arg, stdin, o)
		} else if f := <-fetched[i]; f.err != nil {
			err = f.err
		} else {
			s, err = withCode(ctx, c, arg, f.p)
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

// unlike says what two profiles of different sample types cost each other.
func unlike(name, other string, dropped []profile.ValueType) string {
	var names []string
	for _, t := range dropped {
		names = append(names, t.Type)
	}
	return fmt.Sprintf("%s and %s have different values: without %s, which not all of them have", name, other, strings.Join(names, ", "))
}

// Against subtracts a base. Where its values are others, those that both have are compared.
func (s *Source) Against(base *Source, o profile.BaseOptions) error {
	p, b, gone, err := profile.Share(s.Profile, base.Profile)
	if err == nil {
		s.Profile, err = p.Against(b, o)
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

// decode reads a profile whatever its format.
func decode(r io.Reader) (*profile.Profile, error) {
	br := bufio.NewReaderSize(r, textual.HeadBytes)
	head, _ := br.Peek(textual.HeadBytes) // an error comes again when it is decoded
	switch {
	case textual.Detect(head) != "":
		return textual.Decode(br, 0)
	case bytes.HasPrefix(head, []byte("go 1.")):
		return nil, errors.New("an execution trace, not a profile: hone trace reads it, from a URL too")
	}
	return profile.Decode(br, 0)
}

func withCode(ctx context.Context, c Config, name string, p *profile.Profile) (*Source, error) {
	cfg, known := codeOf(c, p)
	code, err := gocode.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &Source{Name: name, Profile: p, Code: code, KnownBuild: known}, nil
}

// splitRecording takes "rec.hone:allocs" apart.
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

func openRecordingPart(ctx context.Context, c Config, name, file, part string, o SourceOptions) (*Source, error) {
	rec, err := recording.Open(Find(c, file))
	if err != nil {
		return nil, err
	}
	defer rec.Close()
	asked := part
	if view, ok := partTraceView(part); ok {
		return c.traceOfPart(ctx, rec, strings.TrimSuffix(cmp.Or(name, file), ":"+asked), view)
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
		p = c.withStates(rec, p)
	}
	code, err := openCode(ctx, c, rec, p)
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = file
	}
	name = strings.TrimSuffix(name, ":"+asked) + ":" + strings.TrimSuffix(part, ".pprof")
	return &Source{Name: name, Profile: p, Code: code, Recording: &rec.Manifest, Part: part, KnownBuild: rec.Manifest.Target.Dir != ""}, nil
}

// traceOfPart reads the trace of a recording as a profile.
func (c Config) traceOfPart(ctx context.Context, rec *recording.Recording, name, view string) (*Source, error) {
	r, err := rec.Part(recording.PartTrace)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer r.Close()
	p, notes, err := traceProfile(ctx, c, r, view)
	if err != nil {
		return nil, fmt.Errorf("%s:trace: %w", name, err)
	}
	code, err := openCode(ctx, c, rec, p)
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

// withStates joins a goroutine profile with the dump beside it, which tells states,
// waiting times and creators.
func (c Config) withStates(rec *recording.Recording, p *profile.Profile) *profile.Profile {
	dump, err := readPart(rec, recording.PartGoroutineTxt, func(r io.Reader) ([]textual.Goroutine, error) {
		return textual.Goroutines(r, 0)
	})
	if err != nil {
		c.say("read", fmt.Sprintf("goroutines are shown without their states: %v", err))
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

// PartOf returns the part of a recording that OpenSource reads when arg is a recording
// without a part, "" when arg is something else: then sampleIndex does not matter.
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
