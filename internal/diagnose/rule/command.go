package rule

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/hone-go/hone/internal/site"
)

// List is the command that shows a function's lines by a sample type of the
// recording ("cpu", "alloc_space", "alloc_objects", "delay", …).
func (p *Pass) List(sampleIndex, function string) string {
	return "hone list -sample_index=" + sampleIndex + " " + quote("^"+regexp.QuoteMeta(function)+"$") + " " + p.recording()
}

// Top is the command that shows the most expensive functions by a sample type.
func (p *Pass) Top(sampleIndex string) string {
	return "hone top -sample_index=" + sampleIndex + " " + p.recording()
}

func (p *Pass) recording() string {
	if p.RecordingPath == "" {
		return "REC"
	}
	if strings.ContainsAny(p.RecordingPath, " \t\"'$`\\*?[]{}()<>|&;#!~") {
		return quote(p.RecordingPath)
	}
	return p.RecordingPath
}

// quote writes a word for a POSIX shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Why is the command that shows everything known about a site's line.
func (p *Pass) Why(s *site.Site) string {
	file := s.Owner.File
	if file == "" {
		file = path.Base(strings.ReplaceAll(s.File, `\`, "/"))
	}
	place := fmt.Sprintf("%s:%d", file, s.Line)
	if strings.ContainsAny(place, " '\"$`\\*?[]{}()<>|&;#!~") {
		place = quote(place)
	}
	return "hone why " + place + " " + p.recording()
}
