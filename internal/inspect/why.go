package inspect

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/session"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/source"
	"github.com/hone-go/hone/profile/report"
)

// WhySchema is the version of Why's JSON form.
const WhySchema = "hone/why/v1"

// Why is everything known about one function or line of a recording.
type Why struct {
	Schema    string             `json:"schema"`
	Recording string             `json:"recording"`
	Place     string             `json:"place"` // as asked for
	Functions []WhyFunction      `json:"functions"`
	Costs     []WhyCost          `json:"costs"` // units that were not recorded are absent
	Callers   []WhyNeighbour     `json:"callers"`
	Callees   []WhyNeighbour     `json:"callees"`
	Compiler  []WhyRemark        `json:"compiler"`
	Findings  []diagnose.Finding `json:"findings"` // those that touch the place
	Notes     []string           `json:"notes"`    // what is not available, and why

	Unit    string   `json:"unit"` // of the shares of callers and callees: cpu, bytes or waiting
	Source  *Listing `json:"-"`
	Problem string   `json:"no_source,omitempty"` // why there is no annotated source
}

// WhyFunction is a function that the place covers.
type WhyFunction struct {
	Function string `json:"function"`
	File     string `json:"file"` // inside its module
	Owner    string `json:"owner"`
	Module   string `json:"module,omitempty"`
	Version  string `json:"version,omitempty"`
}

// WhyCost is the place's cost in one unit: of itself with the library functions that it calls, and
// of all stacks that go through it.
type WhyCost struct {
	Unit  string    `json:"unit"`
	Own   WhyAmount `json:"own"`
	Total WhyAmount `json:"total"`
}

// WhyAmount is a quantity with its 95 % interval of sampling and its share of the recording's
// total; the share is absent when the recording has none of it.
type WhyAmount struct {
	Value float64  `json:"value"`
	Low   float64  `json:"low"`
	High  float64  `json:"high"`
	Share *float64 `json:"share,omitempty"`
}

// WhyNeighbour is a line that calls the place or a function that it calls.
type WhyNeighbour struct {
	Function string  `json:"function,omitempty"` // absent: the place itself
	File     string  `json:"file,omitempty"`
	Line     int     `json:"line,omitempty"` // of the call; absent for callees
	Owner    string  `json:"owner,omitempty"`
	Share    float64 `json:"share"` // of the place's total
}

// WhyRemark is a decision of the compiler on a line of the place that has a cost.
type WhyRemark struct {
	File string   `json:"file"`
	Line int      `json:"line"`
	Kind string   `json:"kind"` // escape, inlining, bounds check or copy
	Text string   `json:"text"`
	Path []string `json:"path,omitempty"` // by which a value escapes, step by step
}

// whySources is the number of functions shown with their source.
const whySources = 3

// Explain collects what is known about a place of a diagnosed recording: a regular expression of
// functions, or FILE:LINE.
func Explain(ctx context.Context, open source.Opener, res *session.Result, at string) (*Why, error) {
	where, err := parsePlace(at)
	if err != nil {
		return nil, err
	}
	rec := open.Shelf().ShortName(res.Path)
	about := res.Table.About(where.is)
	if len(about.Functions) == 0 {
		return nil, fmt.Errorf("%s: no stack goes through %s, so its cost is unknown; `hone top -cum -top -1 %s` lists what was seen", rec, at, rec)
	}
	w := &Why{
		Schema: WhySchema, Recording: rec, Place: at,
		Callers: []WhyNeighbour{}, Callees: []WhyNeighbour{}, Compiler: []WhyRemark{}, Findings: []diagnose.Finding{},
		Notes: append(slices.Clone(res.Lacking), res.Table.Notes...),
	}
	w.describe(&about, res.Code)
	for f := range res.Report.All() {
		if where.touches(f, about.Functions) {
			w.Findings = append(w.Findings, *f)
		}
	}
	if err := w.compiler(ctx, res, &about); err != nil {
		return nil, err
	}
	return w, w.source(ctx, open, res, where, &about)
}

// place is the subject of a question.
type place struct {
	re   *regexp.Regexp // of functions; nil for a line
	file string
	line int
}

var fileLine = regexp.MustCompile(`^(.+\.(?:go|s|c|cc|h)):([0-9]+)$`)

func parsePlace(text string) (place, error) {
	if m := fileLine.FindStringSubmatch(text); m != nil {
		n, err := strconv.Atoi(m[2])
		if err != nil || n == 0 {
			return place{}, fmt.Errorf("%s: no such line", text)
		}
		return place{file: strings.TrimPrefix(strings.ReplaceAll(m[1], `\`, "/"), "./"), line: n}, nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return place{}, fmt.Errorf("a place is FILE:LINE or a regular expression of functions: %w", err)
	}
	return place{re: re}, nil
}

// CheckPlace returns what is wrong with a place; nil if it is valid.
func CheckPlace(text string) error {
	_, err := parsePlace(text)
	return err
}

func (p place) is(f *site.Frame) bool {
	if p.re != nil {
		return p.re.MatchString(f.Function)
	}
	return f.Line == p.line && p.inFile(f.File, f.Owner)
}

// inFile reports whether the place's file is a suffix of a file's name in one of the forms that
// hone prints.
func (p place) inFile(file string, o gocode.Owner) bool {
	file = strings.ReplaceAll(file, `\`, "/")
	for _, name := range []string{file, o.File, o.Module + "/" + o.File, o.Module + "@" + o.Version + "/" + o.File} {
		if name == p.file || strings.HasSuffix(name, "/"+strings.TrimPrefix(p.file, "/")) {
			return true
		}
	}
	return false
}

// touches reports whether a finding is about the place: one of its lines, or the line that calls
// it.
func (p place) touches(f *diagnose.Finding, functions []string) bool {
	here := func(x diagnose.Place) bool {
		if p.re != nil {
			return x.Function != "" && slices.Contains(functions, x.Function)
		}
		return x.Line == p.line && path.Base(x.File) == path.Base(p.file)
	}
	for _, s := range f.Sites {
		if here(s.Place) {
			return true
		}
	}
	return f.Entry != nil && here(*f.Entry)
}

// describe adds the facts in the table.
func (w *Why) describe(a *site.About, code *gocode.Index) {
	for i, name := range a.Functions {
		o := code.Owner(name, a.Files[i])
		w.Functions = append(w.Functions, WhyFunction{name, fileOf(o, a.Files[i]), o.Kind.String(), o.Module, o.Version})
	}
	for _, m := range a.Amounts {
		w.Costs = append(w.Costs, WhyCost{m.Unit, amount(m.Own.Value, m.Own.Low, m.Own.High, m.Of), amount(m.Total.Value, m.Total.Low, m.Total.High, m.Of)})
	}
	value := func(n *site.Neighbour) int64 { return n.CPU }
	w.Unit = "cpu"
	if total(a.Callees, value) == 0 {
		w.Unit, value = "bytes", func(n *site.Neighbour) int64 { return n.Bytes }
	}
	if total(a.Callees, value) == 0 {
		w.Unit, value = "waiting", func(n *site.Neighbour) int64 { return n.Wait }
	}
	all := float64(total(a.Callees, value))
	neighbours := func(from []site.Neighbour, lines bool) []WhyNeighbour {
		out := []WhyNeighbour{}
		for i := range from {
			n := &from[i]
			if value(n) == 0 {
				continue
			}
			x := WhyNeighbour{Share: float64(value(n)) / all}
			if n.Frame != nil {
				x.Function, x.File, x.Owner = n.Function, fileOf(n.Owner, n.File), n.Owner.Kind.String()
				if lines {
					x.Line = n.Line
				}
			}
			out = append(out, x)
		}
		slices.SortStableFunc(out, func(a, b WhyNeighbour) int {
			switch {
			case a.Share > b.Share:
				return -1
			case a.Share < b.Share:
				return 1
			}
			return 0
		})
		return out
	}
	w.Callers, w.Callees = neighbours(a.Callers, true), neighbours(a.Callees, false)
}

func total(ns []site.Neighbour, value func(*site.Neighbour) int64) (sum int64) {
	for i := range ns {
		sum += value(&ns[i])
	}
	return sum
}

func amount(value, low, high, of float64) WhyAmount {
	a := WhyAmount{Value: value, Low: low, High: high}
	if of > 0 {
		share := value / of
		a.Share = &share
	}
	return a
}

func fileOf(o gocode.Owner, file string) string {
	if o.File != "" {
		return o.File
	}
	return path.Base(strings.ReplaceAll(file, `\`, "/"))
}

// compiler adds the compiler's decisions on the expensive lines.
func (w *Why) compiler(ctx context.Context, res *session.Result, a *site.About) error {
	var pkgs []string
	for _, l := range a.Lines {
		if p := l.Owner.Package; p != "" && l.Owner.Kind != gocode.Std && !slices.Contains(pkgs, p) && len(pkgs) < maxRemarkPackages {
			pkgs = append(pkgs, p)
		}
	}
	if len(pkgs) == 0 {
		return nil
	}
	facts, err := res.Code.Facts(ctx, pkgs)
	if err != nil {
		return fmt.Errorf("ask the compiler: %w", err)
	}
	_, lacking := facts.Packages()
	for _, p := range pkgs {
		if why := lacking[p]; why != "" {
			w.note(fmt.Sprintf("no compiler facts about %s: %s", p, why))
		}
	}
	for _, l := range a.Lines {
		for _, f := range facts.On(l.File, l.Line) {
			kind, text := f.Words()
			r := WhyRemark{File: fileOf(l.Owner, l.File), Line: l.Line, Kind: kind, Text: text, Path: f.Path()}
			if kind != "" && !slices.ContainsFunc(w.Compiler, func(x WhyRemark) bool { return x.File == r.File && x.Line == r.Line && x.Text == r.Text }) {
				w.Compiler = append(w.Compiler, r)
			}
		}
	}
	return nil
}

func (w *Why) note(text string) {
	if !slices.Contains(w.Notes, text) {
		w.Notes = append(w.Notes, text)
	}
}

// source adds the annotated source of the most expensive functions, in the unit of the shares.
func (w *Why) source(ctx context.Context, open source.Opener, res *session.Result, where place, a *site.About) error {
	index, part := "cpu", ":cpu"
	switch w.Unit {
	case "bytes":
		index, part = "alloc_space", ":allocs"
	case "waiting":
		index, part = "delay", ":mutex"
	}
	src, err := open.Profile(ctx, res.Path+part)
	if err != nil {
		w.Problem = err.Error()
		return nil
	}
	src.Code = res.Code // it knows which files have changed
	o := report.DefaultOptions()
	o.SampleIndex = index
	v, err := report.NewView(src.Profile, o)
	if err != nil {
		w.Problem = err.Error()
		return nil
	}
	shown := a.Functions[:min(whySources, len(a.Functions))]
	list, err := listed(src, v, func(name string) bool { return slices.Contains(shown, name) })
	if err == nil && len(list.Functions) == 0 {
		err = fmt.Errorf("%s: nothing of it in %s", src.Name, v.SampleType.Type)
	}
	if err != nil {
		w.Problem = err.Error()
		return nil
	}
	if more := len(a.Functions) - whySources; more > 0 {
		w.note(fmt.Sprintf("the source of the %d most expensive functions is shown, %d more match", whySources, more))
	}
	if where.re == nil {
		around(list, where.line)
	}
	if err := AddRemarks(ctx, src, list, RemarkOptions{}); err != nil {
		return err
	}
	for _, n := range list.Notes {
		if !strings.HasPrefix(n, noRemarks) && !strings.HasPrefix(n, "source may have moved") { // the page has both already
			w.note(n)
		}
	}
	list.Notes = nil
	w.Source = list
	return nil
}

// around keeps only the lines around one line of each function's source.
func around(l *Listing, line int) {
	for i := range l.Functions {
		f := &l.Functions[i]
		if f.Source == nil {
			f.Lines = slices.DeleteFunc(f.Lines, func(c report.LineCost) bool { return c.Line != int64(line) })
			continue
		}
		from := min(max(0, int64(line)-listMargin-f.From), int64(len(f.Source)))
		to := min(max(from, int64(line)+listMargin+1-f.From), int64(len(f.Source)))
		f.Source, f.From = f.Source[from:to], f.From+from
	}
}
