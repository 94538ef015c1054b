package evidence

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
)

// ListCommand returns the command that shows a function's lines by a sample type of the recording
// ("cpu", "alloc_space", "alloc_objects", "delay", …).
func ListCommand(p *rule.Pass, sampleIndex, function string) string {
	return "hone list -sample_index=" + sampleIndex + " " + quote(only(function)) + " " + recordingArg(p)
}

// only returns the regular expression for a function, with all of its instances if it is generic.
func only(function string) string {
	open, end := strings.IndexByte(function, '['), strings.LastIndexByte(function, ']')
	if open < 0 || end < open {
		return "^" + regexp.QuoteMeta(function) + "$"
	}
	return "^" + regexp.QuoteMeta(function[:open]) + `\[.*\]` + regexp.QuoteMeta(function[end+1:]) + "$"
}

// PartCommand returns the command that shows a function's lines by a profile of the recording that
// ListCommand does not name: "goroutine", "goroutineleak".
func PartCommand(p *rule.Pass, part, function string) string {
	return "hone list " + quote(only(function)) + " " + recordingArg(p) + ":" + part
}

// TopCommand returns the command that shows the most expensive functions by a sample type.
func TopCommand(p *rule.Pass, sampleIndex string) string {
	return "hone top -sample_index=" + sampleIndex + " " + recordingArg(p)
}

func recordingArg(p *rule.Pass) string {
	if p.RecordingPath == "" {
		return "REC"
	}
	if strings.ContainsAny(p.RecordingPath, " \t\"'$`\\*?[]{}()<>|&;#!~") {
		return quote(p.RecordingPath)
	}
	return p.RecordingPath
}

// quote quotes a word for a POSIX shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// WhyCommand returns the command that shows everything known about a site's line.
func WhyCommand(p *rule.Pass, s *site.Site) string {
	file := s.Owner.File
	if file == "" {
		file = path.Base(strings.ReplaceAll(s.File, `\`, "/"))
	}
	place := fmt.Sprintf("%s:%d", file, s.Line)
	if strings.ContainsAny(place, " '\"$`\\*?[]{}()<>|&;#!~") {
		place = quote(place)
	}
	return "hone why " + place + " " + recordingArg(p)
}

// Near returns a line of the trace for a sentence about a site: "line 12" in the same file, else
// "cart.go:12".
func Near(p *rule.Pass, s *site.Site, l exectrace.Line) string {
	if l.File == s.File {
		return "line " + strconv.Itoa(l.Line)
	}
	return path.Base(strings.ReplaceAll(l.File, `\`, "/")) + ":" + strconv.Itoa(l.Line)
}

// ViewCommand returns the command that shows an analysis of the recording's trace.
func ViewCommand(p *rule.Pass, name string) string {
	return "hone trace " + name + " " + recordingArg(p)
}
