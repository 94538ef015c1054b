package funcname

import (
	"strings"
)

// Match reports whether a function's name matches one of the patterns: the exact name, or a prefix
// when the pattern ends in "*" ("runtime.concatstring*").
func Match(function string, patterns ...string) bool {
	for _, p := range patterns {
		if prefix, ok := strings.CutSuffix(p, "*"); ok {
			if strings.HasPrefix(function, prefix) {
				return true
			}
		} else if function == p {
			return true
		}
	}
	return false
}

// IsInit reports whether a function is a package's initialisation, by its name
// in a profile: "example.com/app.init", "example.com/app.init.0", "main.init.func1".
func IsInit(function string) bool {
	name := function[strings.LastIndexByte(function, '/')+1:]
	parts := strings.Split(name, ".")
	return len(parts) >= 2 && parts[1] == "init"
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
// "(time.Time).Format", "slices.Index[...]" into "slices.Index". A profile escapes dots in the last
// element of an import path ("gopkg.in/yaml%2ev3.Unmarshal"); so must patterns.
func Typed(profile string) string {
	name, generic, _ := strings.Cut(profile, "[")
	if generic != "" && strings.Contains(generic, "].") {
		_, method, _ := strings.Cut(generic, "].")
		name += "." + method // a method of a generic type
	}
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

// Short returns a function's full name for a sentence, without the directories of its import path:
// "(*http.Client).Do" for "(*net/http.Client).Do".
func Short(name string) string {
	bare := strings.TrimLeft(name, "(*")
	path, _, _ := strings.Cut(bare, "[") // type arguments have paths of their own
	return name[:len(name)-len(bare)] + bare[strings.LastIndexByte(path, '/')+1:]
}
