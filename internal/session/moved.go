package session

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile"
)

// distrust finds the files with costs that have changed since the build and excludes their source
// from the diagnosis: a finding about a line that has changed is worse than none.
//
// A file that was written since the build may be unchanged, or differ only in a comment. Profiles
// have the line at which each function starts. If all functions still start on these lines, the
// file is used, and a note says so.
func distrust(ctx context.Context, t *site.Table, code *gocode.Index, profiles ...*profile.Profile) []string {
	starts := functionStarts(profiles)
	var stand, moved []string
	why := ""
	seen := map[string]bool{}
	for _, s := range t.Sites {
		if k := s.Owner.Kind; k != gocode.Main && k != gocode.Dependency || seen[s.File] {
			continue
		}
		seen[s.File] = true
		reason := code.Moved(ctx, s.File)
		if reason == "" {
			continue
		}
		name := path.Base(strings.ReplaceAll(s.File, `\`, "/"))
		if inPlace(code, s.File, starts[s.File]) {
			stand = append(stand, name)
			continue
		}
		moved, why = append(moved, name), reason
		code.Distrust(s.File, reason+", and its functions no longer start on the same lines")
	}
	var notes []string
	if len(moved) > 0 {
		notes = append(notes, fmt.Sprintf("%s: %s, and functions no longer start on the same lines: no source, syntax or compiler facts from there are used", files(moved), why))
	}
	if len(stand) > 0 {
		notes = append(notes, files(stand)+" changed since the build, but functions start on the same lines: the source is read as if it were the same")
	}
	return notes
}

// files formats a few file names.
func files(names []string) string {
	slices.Sort(names)
	const most = 4
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more files", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// start is the line at which a function starts.
type start struct {
	function string
	line     int
}

func functionStarts(profiles []*profile.Profile) map[string][]start {
	starts := map[string][]start{}
	for _, p := range profiles {
		if p == nil {
			continue
		}
		for _, f := range p.Functions {
			at := start{f.Name, int(f.StartLine)}
			if f.StartLine > 0 && !slices.Contains(starts[f.Filename], at) {
				starts[f.Filename] = append(starts[f.Filename], at)
			}
		}
	}
	return starts
}

// inPlace reports whether all functions of a file that the profiles contain still start on the same
// lines. It returns false when the profiles do not have those lines (before Go 1.20).
func inPlace(code *gocode.Index, file string, functions []start) bool {
	for _, f := range functions {
		lines, err := code.Lines(file, f.line, f.line)
		if err != nil || len(lines) != 1 || !begins(lines[0], f.function) {
			return false
		}
	}
	return len(functions) > 0
}

// begins reports whether a function may start on a line of source: the line contains "func" and,
// for a declared function, its name.
func begins(line, function string) bool {
	_, rest, ok := strings.Cut(line, "func")
	if !ok {
		return false
	}
	name := function[strings.LastIndexByte(function, '/')+1:]
	if i := strings.IndexByte(name, '['); i >= 0 {
		name = name[:i]
	}
	parts := strings.Split(name, ".")
	switch {
	case len(parts) == 2: // pkg.Name
		return strings.Contains(rest, parts[1])
	case len(parts) == 3 && !closureName(parts[2]): // pkg.Type.Method
		return strings.Contains(rest, strings.TrimSuffix(parts[2], "-fm"))
	}
	return true // a function literal
}

// closureName reports whether a name is one that the compiler gives to a function literal: func1,
// gowrap2, deferwrap1, 3.
func closureName(s string) bool {
	trimmed := strings.TrimRight(s, "0123456789")
	return trimmed != s && (trimmed == "" || trimmed == "func" || trimmed == "gowrap" || trimmed == "deferwrap")
}
