package session

import (
	"fmt"
	"regexp"

	"github.com/hone-go/hone/profile"
)

// Listing is functions with their source.
type Listing struct {
	SampleType profile.ValueType
	Total      int64
	Functions  []ListedFunction
}

// ListedFunction is one function of a listing.
type ListedFunction struct {
	profile.FuncLines
	Path    string // local file that the source was read from
	From    int64  // number of the first line of Source
	Source  []string
	Problem string // why there is no source
}

// listMargin is how many lines are shown before the first and after the last line
// that costs something.
const listMargin = 5

// List finds the functions that match and cost something, with their source.
func List(src *Source, re *regexp.Regexp, sampleIndex int, f profile.Filter) (*Listing, error) {
	p := src.Profile
	funcs, err := p.Filter(f).List(re, sampleIndex)
	if err != nil {
		return nil, err
	}
	if len(funcs) == 0 {
		return nil, fmt.Errorf("%s: no function that matches %q costs anything in %s; `hone top -top -1` shows all", src.Name, re, p.SampleTypes[sampleIndex].Type)
	}
	l := &Listing{SampleType: p.SampleTypes[sampleIndex], Total: p.Total(sampleIndex)}
	for _, fn := range funcs {
		out := ListedFunction{FuncLines: fn}
		first, last := fn.StartLine, int64(0)
		for _, c := range fn.Lines {
			if first == 0 || c.Line < first && c.Line > 0 {
				first = c.Line
			}
			last = max(last, c.Line)
		}
		if fn.StartLine == 0 {
			first -= listMargin
		}
		out.From = max(1, first)
		out.Path, err = src.Code.Source(fn.File)
		if err == nil {
			out.Source, err = src.Code.Lines(fn.File, int(out.From), int(last+listMargin))
		}
		if err != nil {
			out.Problem = err.Error()
		}
		l.Functions = append(l.Functions, out)
	}
	return l, nil
}
