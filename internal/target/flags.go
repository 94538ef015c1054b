package target

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A buildFlag is one flag of the go command: -name or -name=value.
type buildFlag struct {
	name  string
	value string
	equal bool // has a value
}

func (f buildFlag) String() string {
	if f.equal {
		return "-" + f.name + "=" + f.value
	}
	return "-" + f.name
}

// Build flags of the go command that take their value from the next word.
var valueFlags = []string{
	"C", "asmflags", "buildmode", "compiler", "covermode", "coverpkg", "exec", "gccgoflags",
	"gcflags", "installsuffix", "ldflags", "mod", "modfile", "o", "overlay", "p", "pgo",
	"pkgdir", "tags", "toolexec",
}

// Build flags that users may not set, and why.
var refusedFlags = map[string]string{
	"C":    "name the directory to hone",
	"n":    "hone runs what it builds",
	"o":    "hone chooses where the program goes",
	"c":    "it is not a flag of go build",
	"exec": "hone runs the program itself",
	"json": "hone shows the compiler's messages unchanged",
}

// Build flags whose value is a path relative to the user's directory.
var pathFlags = []string{"modfile", "overlay", "pgo", "pkgdir"}

// SplitFlags splits a command line of build flags into words as a shell would:
// at spaces, with single and double quotes anywhere in a word. It expands nothing.
func SplitFlags(s string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord := false
	var quote rune
	for _, c := range s {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case strings.ContainsRune(" \t\r\n", c):
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("build flags %s: a %c has no end", s, quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

// splitGOFLAGS splits as the go command splits GOFLAGS: quotes count only around
// a whole word (cmd/internal/quoted.Split).
func splitGOFLAGS(s string) ([]string, error) {
	const space = " \t\r\n"
	var words []string
	for {
		s = strings.TrimLeft(s, space)
		if s == "" {
			return words, nil
		}
		if s[0] == '"' || s[0] == '\'' {
			end := strings.IndexByte(s[1:], s[0])
			if end < 0 {
				return nil, fmt.Errorf("GOFLAGS: a %c has no end", s[0])
			}
			words, s = append(words, s[1:1+end]), s[end+2:]
			continue
		}
		end := strings.IndexAny(s, space)
		if end < 0 {
			end = len(s)
		}
		words, s = append(words, s[:end]), s[end:]
	}
}

// parseFlags parses words as the flags of go build, and rejects those that hone cannot build with.
func parseFlags(words []string) ([]buildFlag, error) {
	var flags []buildFlag
	for i := 0; i < len(words); i++ {
		w := words[i]
		name := strings.TrimPrefix(strings.TrimPrefix(w, "-"), "-")
		if name == w || name == "" || name[0] == '-' || name[0] == '=' {
			return nil, fmt.Errorf("build flags: %q is not a flag", w)
		}
		f := buildFlag{name: name}
		f.name, f.value, f.equal = strings.Cut(name, "=")
		if why, ok := refusedFlags[f.name]; ok {
			return nil, fmt.Errorf("build flag -%s cannot be used: %s", f.name, why)
		}
		if !f.equal && slices.Contains(valueFlags, f.name) {
			if i++; i == len(words) {
				return nil, fmt.Errorf("build flag -%s needs a value", f.name)
			}
			f.value, f.equal = words[i], true
		}
		if err := f.check(); err != nil {
			return nil, err
		}
		flags = append(flags, f)
	}
	return flags, nil
}

// parseGOFLAGS parses the flags in GOFLAGS. They apply to all go commands, so one that does not fit
// is not an error.
func parseGOFLAGS(s string) ([]buildFlag, error) {
	words, err := splitGOFLAGS(s)
	if err != nil {
		return nil, err
	}
	var flags []buildFlag
	for _, w := range words {
		var f buildFlag
		f.name, f.value, f.equal = strings.Cut(strings.TrimPrefix(strings.TrimPrefix(w, "-"), "-"), "=")
		flags = append(flags, f)
	}
	return flags, nil
}

// check rejects flags whose result is not a program that can be run.
func (f buildFlag) check() error {
	if f.name == "buildmode" && f.value != "exe" && f.value != "pie" && f.value != "default" {
		return fmt.Errorf("build flag %s cannot be used: it does not make a program", f)
	}
	return nil
}

// absolute makes the flag's path independent of the directory of the build.
func (f buildFlag) absolute(dir string) buildFlag {
	if !slices.Contains(pathFlags, f.name) || f.value == "" || filepath.IsAbs(f.value) {
		return f
	}
	if f.name == "pgo" && (f.value == "auto" || f.value == "off") {
		return f
	}
	f.value = filepath.Join(dir, f.value)
	return f
}

// linkFlag lets the probe link to names that the standard library does not export.
const linkFlag = "-checklinkname=0"

// mergedFlags holds the flags for the go command: the user's, those of GOFLAGS that one of ours
// would replace, and ours.
type mergedFlags struct {
	words   []string // without -overlay
	overlay string   // the user's own, absolute; "" for none
}

// mergeFlags joins the flags of GOFLAGS and the user with those that hone needs.
//
// For each package the go command takes the last -ldflags whose pattern matches it, and a flag on
// the command line replaces the same flag of GOFLAGS. So ours goes first, for the packages that no
// flag of the user's matches, and is appended to every value of theirs, with GOFLAGS' repeated on
// the command line. This way no pattern has to be parsed. link is our flag for the linker; "" for
// none.
func mergeFlags(goflags, user []buildFlag, dir, link string) mergedFlags {
	var m mergedFlags
	if link != "" {
		m.words = append(m.words, "-ldflags="+link)
	}
	for _, f := range goflags {
		switch {
		case f.name == "overlay":
			m.overlay = f.absolute(dir).value
		case f.name == "ldflags" && link != "":
			m.words = append(m.words, f.withLink(link).String())
		case slices.Contains(pathFlags, f.name):
			m.words = append(m.words, f.absolute(dir).String())
		}
	}
	for _, f := range user {
		switch {
		case f.name == "overlay":
			m.overlay = f.absolute(dir).value
		case f.name == "ldflags" && link != "":
			m.words = append(m.words, f.withLink(link).String())
		default:
			m.words = append(m.words, f.absolute(dir).String())
		}
	}
	return m
}

// withLink appends a flag of ours to a -ldflags. Its value is "flags" or "pattern=flags";
// flags are split at spaces, so that appending a word is safe in both.
func (f buildFlag) withLink(link string) buildFlag {
	v := strings.TrimRight(f.value, " \t\r\n")
	if v == "" || strings.HasSuffix(v, "=") && !strings.HasPrefix(v, "-") {
		f.value = v + link
	} else {
		f.value = v + " " + link
	}
	return f
}
