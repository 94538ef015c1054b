package inspect

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"

	"github.com/hone-go/hone/internal/source"
	"github.com/hone-go/hone/profile/report"
)

// Listing is functions with their source.
type Listing struct {
	View      *report.View
	Functions []ListedFunction
	Per       string   // the unit of Executions: "request", "operation", "run"; "" when nothing was counted
	Notes     []string // which remarks are not available; see AddRemarks
}

// ListedFunction is one function of a listing.
type ListedFunction struct {
	report.FuncLines
	Path    string // local file with the source
	From    int64  // number of the first line of Source
	Source  []string
	Problem string   // why there is no source
	Remarks []Remark // by line; see AddRemarks

	Executions map[int64]float64 // by line: how often it runs per Listing.Per; lines that were not counted are absent
}

// listMargin is the number of lines shown before the first and after the last line with a cost.
const listMargin = 5

// List finds the functions of a view of src that match and have a cost, with their source.
func List(src *source.Source, v *report.View, re *regexp.Regexp) (*Listing, error) {
	l, err := listed(src, v, re.MatchString)
	if err == nil && len(l.Functions) == 0 {
		return nil, fmt.Errorf("%s: no function that matches %q costs anything in %s; `hone top -top -1` shows all", src.Name, re, v.SampleType.Type)
	}
	return l, err
}

// listed lists the functions whose names match, without an error when there are none.
func listed(src *source.Source, v *report.View, match func(name string) bool) (*Listing, error) {
	funcs, err := v.ListFunc(match)
	if err != nil {
		return nil, err
	}
	l := &Listing{View: v}
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
		file := sourceFile(src, v, fn.File)
		out.Path, err = src.Code.Source(file)
		if err == nil {
			out.Source, err = src.Code.Lines(file, int(out.From), int(last+listMargin))
		}
		if err != nil {
			out.Problem = err.Error()
		}
		if countsPerUnit(src) {
			out.Executions = executions(src, &out, file)
			l.Per = src.Recording.Unit()
		}
		l.Functions = append(l.Functions, out)
	}
	return l, nil
}

// sourceFile returns the name under which a file of a view is looked up: the file below a directory
// of SourcePath, or the name before TrimPath shortened it.
func sourceFile(src *source.Source, v *report.View, file string) string {
	for _, dir := range filepath.SplitList(v.SourcePath) {
		if below := filepath.Join(dir, filepath.FromSlash(file)); isFile(below) {
			if abs, err := filepath.Abs(below); err == nil {
				return abs
			}
		}
	}
	for i, f := range src.Profile.Functions {
		if i < len(v.Profile.Functions) && path.Clean(v.Profile.Functions[i].Filename) == file {
			return f.Filename
		}
	}
	return file
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
