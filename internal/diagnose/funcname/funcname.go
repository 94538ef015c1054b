package funcname

import (
	"slices"
	"strings"

	"github.com/hone-go/hone/profile/symbol"
)

// Match reports whether a function's name matches one of the patterns. A star stands for any text:
// the rest of a name at the end of a pattern ("runtime.concatstring*"), or the major version of a
// module in its middle ("github.com/robfig/cron*.ParseStandard"). The star of a receiver, which
// follows a parenthesis, is a star ("database/sql.(*DB).Query*").
func Match(function string, patterns ...string) bool {
	for _, p := range patterns {
		if match(function, p) {
			return true
		}
	}
	return false
}

func match(name, pattern string) bool {
	i := star(pattern)
	if i < 0 {
		return name == pattern
	}
	if !strings.HasPrefix(name, pattern[:i]) {
		return false
	}
	name, pattern = name[i:], pattern[i+1:]
	for {
		i = star(pattern)
		if i < 0 {
			return strings.HasSuffix(name, pattern)
		}
		_, after, found := strings.Cut(name, pattern[:i])
		if !found {
			return false
		}
		name, pattern = after, pattern[i+1:]
	}
}

// star returns the index of a pattern's first star that stands for text; -1 if there is none.
func star(pattern string) int {
	for i := range len(pattern) {
		if pattern[i] == '*' && (i == 0 || pattern[i-1] != '(') {
			return i
		}
	}
	return -1
}

// IsInit reports whether a function is a package's initialisation, by its name in a profile:
// "example.com/app.init", "example.com/app.init.0". A function literal in it ("main.init.func1")
// may be called at any time: handlers and rules are often registered so.
func IsInit(function string) bool {
	name := function[strings.LastIndexByte(function, '/')+1:]
	parts := strings.Split(name, ".")
	return len(parts) >= 2 && parts[1] == "init" && !slices.ContainsFunc(parts[2:], func(s string) bool { return strings.Trim(s, "0123456789") != "" })
}

// TypedAll returns [Typed] of each name.
func TypedAll(profile []string) []string {
	names := make([]string, len(profile))
	for i, n := range profile {
		names[i] = Typed(n)
	}
	return names
}

// Typed turns the name of a function in a profile into the type checker's:
// "strings.(*Replacer).Replace" into "(*strings.Replacer).Replace", "time.Time.Format" into
// "(time.Time).Format", "slices.Index[...]" into "slices.Index", without type arguments. A profile
// escapes dots in the last element of an import path ("gopkg.in/yaml%2ev3.Unmarshal"); so must
// patterns.
func Typed(profile string) string {
	name := symbol.Bare(profile)
	dir := name[:strings.LastIndexByte(name, '/')+1]
	parts := strings.Split(name[len(dir):], ".")
	if len(parts) != 3 {
		return strings.ReplaceAll(name, "%2e", ".")
	}
	pkg := dir + strings.ReplaceAll(parts[0], "%2e", ".")
	if receiver, ok := strings.CutPrefix(parts[1], "(*"); ok {
		return "(*" + pkg + "." + strings.TrimSuffix(receiver, ")") + ")." + parts[2]
	}
	return "(" + pkg + "." + parts[1] + ")." + parts[2]
}

// List joins words with commas and an "and".
func List(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// Name returns the name of a function or method alone, without package, receiver and type
// arguments: "Do" for "net/http.(*Client).Do".
func Name(profile string) string {
	if i := strings.IndexByte(profile, '['); i > 0 && strings.HasSuffix(profile, "]") {
		profile = profile[:i]
	}
	return profile[strings.LastIndexByte(profile, '.')+1:]
}
