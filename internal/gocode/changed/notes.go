package changed

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// Note is an entry of release notes.
type Note struct {
	Version, Text string
	Named         bool // it mentions one of the names that were asked for
}

const (
	maxNotes     = 3
	maxNoteBytes = 220
	maxNotesFile = 4 << 20
)

// Notes quotes the release notes in a module: entries of the versions after one, up to the
// release's, that mention one of the names or say something about cost. The newest is last.
func Notes(new Release, after string, names []string) []Note {
	for i, name := range names {
		if i == 0 {
			names = slices.Clone(names)
		}
		names[i] = name[strings.LastIndexByte(name, '.')+1:]
	}
	for _, file := range notesFiles(new.Dir) {
		text, err := readBounded(file)
		if err != nil {
			continue
		}
		if list := notesIn(text, after, new.Version, names); len(list) > 0 {
			return list
		}
	}
	return nil
}

// notesFiles returns the files of a directory that are named like release notes.
func notesFiles(dir string) (files []string) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > maxFiles {
		return nil
	}
	for _, prefix := range []string{"CHANGELOG", "CHANGES", "HISTORY", "RELEASE", "NEWS"} {
		for _, e := range entries {
			name := strings.ToUpper(e.Name())
			switch filepath.Ext(name) {
			case "", ".MD", ".TXT", ".RST", ".MARKDOWN":
				if e.Type().IsRegular() && strings.HasPrefix(name, prefix) {
					files = append(files, filepath.Join(dir, e.Name()))
				}
			}
		}
	}
	return files
}

func readBounded(file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil || info.Size() > maxNotesFile {
		return "", err
	}
	text, err := os.ReadFile(file)
	return string(text), err
}

// entry is a bullet or a paragraph of a version's section.
type entry struct {
	version, text string
	faster, named bool // it is about cost; it mentions a name
	score         int
}

// notesIn finds the entries of a file.
func notesIn(text, after, upTo string, names []string) (list []Note) {
	var found []entry
	for _, e := range entriesOf(text) {
		if semver.Compare(e.version, after) <= 0 || semver.Compare(e.version, withoutBuild(upTo)) > 0 {
			continue
		}
		if e.named = mentions(e.text, names); e.named {
			e.score += 2
		}
		if e.faster = e.faster || saysFaster(e.text); e.faster {
			e.score += 2
		} else if aboutCost(e.text) {
			e.score++
		}
		if e.text = plain(e.text); e.score > 0 && e.text != "" {
			found = append(found, e)
		}
	}
	slices.SortStableFunc(found, func(a, b entry) int { return b.score - a.score })
	if len(found) > 0 && found[0].score > 1 { // then those with a word that may mean something else add nothing
		found = slices.DeleteFunc(found, func(e entry) bool { return e.score == 1 })
	}
	if len(found) > 0 && found[0].named && found[0].faster {
		found = slices.DeleteFunc(found, func(e entry) bool { return !e.named })
	}
	found = found[:min(len(found), maxNotes)]
	slices.SortStableFunc(found, func(a, b entry) int { return semver.Compare(a.version, b.version) })
	for _, e := range found {
		list = append(list, Note{e.version, e.text, e.named})
	}
	return list
}

// withoutBuild removes "+incompatible".
func withoutBuild(version string) string {
	version, _, _ = strings.Cut(version, "+")
	return version
}

// heading matches the version in a heading: "## [1.4.0] - 2020-01-01", "v1.4.0", "=== 1.4".
var heading = regexp.MustCompile(`^[#=*\s]*(?:\[|(?i:version|release)\s+|\*\*|` + "`" + `)?[\[` + "`" + `]?v?(\d+\.\d+(?:\.\d+)?(?:-[0-9A-Za-z.-]+)?)\b`)

// bullet matches the start of an entry.
var bullet = regexp.MustCompile(`^\s*(?:[-*+•]|\d+[.)])\s+`)

// entriesOf splits release notes into entries.
func entriesOf(text string) (list []entry) {
	version := ""
	faster := false // the section below the version is about cost
	open := false   // whether a line goes on with the last entry
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || strings.Trim(trimmed, "=-~^`") == "" || strings.HasPrefix(trimmed, "|"): // of a table
			open = false
		case isHeading(line, next(lines, i)):
			open = false
			faster = saysFaster(line)
			if m := heading.FindStringSubmatch(line); m != nil {
				version = canonical(m[1])
			} else if strings.Contains(strings.ToLower(trimmed), "unreleased") {
				version = ""
			}
		case version == "":
		case open && !bullet.MatchString(line):
			list[len(list)-1].text += " " + trimmed
		default:
			list = append(list, entry{version: version, faster: faster, text: bullet.ReplaceAllString(line, "")})
			open = true
		}
	}
	return list
}

func next(lines []string, i int) string {
	if i+1 < len(lines) {
		return strings.TrimSpace(lines[i+1])
	}
	return ""
}

// isHeading reports whether a line is a heading: by its marks, by those on the next line, or
// because it is little more than a version.
func isHeading(line, next string) bool {
	if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "==") {
		return true
	}
	if underlined := len(next) > 2 && (strings.Trim(next, "=") == "" || strings.Trim(next, "-") == "" || strings.Trim(next, "~") == ""); underlined {
		return true
	}
	m := heading.FindStringIndex(line)
	return m != nil && len(strings.TrimSpace(line[m[1]:])) <= 30 && !bullet.MatchString(line)
}

func canonical(version string) string {
	return semver.Canonical("v" + strings.TrimRight(version, ".-"))
}

// mentions reports whether a text has one of the names as a word. Names as short as Get and SQL are
// words of other sentences, too.
func mentions(text string, names []string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	for _, name := range names {
		if len(name) > 3 && slices.Contains(words, name) {
			return true
		}
	}
	return false
}

var fasterWords = regexp.MustCompile(`(?i)\b(perf|performance|faster|speed|slow\w*|alloc\w*|optimi[sz]\w*|leak\w*|quadratic|contention|efficien\w*|memory|cache[sd]?|caching|benchmark\w*|cpu|dos|denial of service|CVE-\d+)\b`)

// saysFaster reports whether a note is about cost, and not only has a word that may be.
func saysFaster(text string) bool { return fasterWords.MatchString(text) }

var (
	links   = regexp.MustCompile(`!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])`)
	address = regexp.MustCompile(`<?https?://\S+`)
	marks   = regexp.MustCompile("[`*]{1,3}")
)

// plain removes markup from an entry and shortens it.
func plain(text string) string {
	text = links.ReplaceAllString(text, "$1")
	text = address.ReplaceAllString(text, "")
	text = marks.ReplaceAllString(text, "")
	return cut(strings.Join(strings.Fields(text), " "), maxNoteBytes)
}
