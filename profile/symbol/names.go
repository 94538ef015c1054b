package symbol

import (
	"net/url"
	"regexp"
	"strings"
)

// Readable rewrites a function's symbol name for people. It keeps the package path, so that the
// name still shows whose function it is.
//
//	main.run.func1.2                          main.run (closure 1.2)
//	main.(*T).M-fm                            main.(*T).M (method value)
//	main.walk.func2.(*Tree).All.func1-range1  main.walk (closure 2, closure 1 of (*Tree).All, range body 1)
//	main.serve.gowrap1                        main.serve (go statement 1)
//	main.glob..func1                          main (closure 1 of a package variable)
//	slices.SortFunc[go.shape.[]a/b.Item]      slices.SortFunc[[]b.Item]
//	gopkg.in/yaml%2ev3.Unmarshal              gopkg.in/yaml.v3.Unmarshal
//
// The compiler numbers the closures of a function from 1 in source order, and puts the names of
// inlined functions in front of their closures (closureName in cmd/compile/internal/ir/func.go). In
// front of the first closure, a function inlined into F looks like a method of a type F, so those
// names stay as they are. A name that is not a Go symbol is returned unchanged. Two names may
// become equal: type arguments lose their package paths, and long ones are left out.
func Readable(name string) string {
	if !strings.ContainsAny(name, "[-%") && !strings.Contains(name, "func") && !strings.Contains(name, "wrap") {
		return name // the common case
	}
	slash := lastSlash(name)
	dot := strings.IndexByte(name[slash:], '.')
	if dot <= 0 || strings.HasPrefix(name, "type:") || strings.HasPrefix(name, "go:") {
		return name
	}
	pkg, rest := name[:slash+dot], name[slash+dot+1:]
	parts, ok := splitSymbol(rest)
	if !ok {
		return name
	}
	if plain, err := url.PathUnescape(pkg); err == nil {
		pkg = plain // reverses objabi.PathToPrefix
	}
	owner, notes, ok := nameParts(parts)
	if !ok {
		owner, notes = parts, nil
	}
	for i := range owner {
		owner[i] = readableArguments(owner[i])
	}
	out := strings.Join(append([]string{pkg}, owner...), ".")
	if len(notes) > 0 {
		out += " (" + strings.Join(notes, ", ") + ")"
	}
	return out
}

// lastSlash returns the index at which the last element of the package path starts. It ignores
// slashes in type arguments.
func lastSlash(name string) int {
	if i := strings.IndexByte(name, '['); i >= 0 {
		name = name[:i]
	}
	return strings.LastIndexByte(name, '/') + 1
}

// splitSymbol splits at the dots outside brackets; ok reports whether the brackets match.
func splitSymbol(s string) (parts []string, ok bool) {
	depth, from := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '[', '(', '{':
			depth++
		case ']', ')', '}':
			if depth--; depth < 0 {
				return nil, false
			}
		case '.':
			if depth == 0 {
				parts, from = append(parts, s[from:i]), i+1
			}
		}
	}
	return append(parts, s[from:]), depth == 0
}

// suffix matches what the compiler appends to name a function that has no name in the source.
var suffix = regexp.MustCompile(`^(func|gowrap|deferwrap)?([0-9]+)$`)

var suffixWords = map[string]string{"func": "closure", "gowrap": "go statement", "deferwrap": "deferred call"}

// nameParts separates the named function from the unnamed functions in it. ok is false when the
// name does not follow the compiler's pattern.
func nameParts(parts []string) (owner, notes []string, ok bool) {
	var inlined []string // names since the last note, which qualify the next one
	var of []string      // by note: the names that qualify it
	numbered := false    // the last note is a closure: a bare number that follows is a closure in it
	note := func(text string) {
		notes, of = append(notes, text), append(of, strings.Join(inlined, "."))
		inlined, numbered = nil, strings.HasPrefix(text, "closure")
	}
	if len(parts) > 2 && parts[0] == "glob" && parts[1] == "" {
		inlined, parts = []string{"a package variable"}, parts[2:]
	}
	for _, part := range parts {
		part, ranges, hasRange := strings.Cut(part, "-range")
		part, method := strings.CutSuffix(part, "-fm")
		nested := len(owner)+len(notes)+len(inlined) > 0
		m := suffix.FindStringSubmatch(part)
		switch {
		case nested && m != nil && m[1] == "" && numbered && len(inlined) == 0:
			notes[len(notes)-1] += "." + m[2]
		case nested && m != nil && m[1] != "":
			note(suffixWords[m[1]] + " " + m[2])
		case len(notes)+len(inlined) == 0:
			owner = append(owner, part)
		default:
			inlined = append(inlined, readableArguments(part))
		}
		if hasRange {
			for n := range strings.SplitSeq(ranges, "-range") {
				if n == "" || strings.Trim(n, "0123456789") != "" {
					return nil, nil, false
				}
				note("range body " + n)
			}
		}
		if method {
			note("method value")
		}
	}
	for i, whose := range of {
		if whose != "" {
			notes[i] += " of " + whose
		}
	}
	return owner, notes, len(inlined) == 0
}

// mostArguments is the number of bytes of type arguments above which they are left out.
const mostArguments = 40

// readableArguments shortens the type arguments of a part of a name: it removes the compiler's
// "go.shape." and package paths.
func readableArguments(part string) string {
	open, end := strings.IndexByte(part, '['), strings.LastIndexByte(part, ']')
	if open < 0 || end < open {
		return part
	}
	args := strings.ReplaceAll(part[open+1:end], "go.shape.", "")
	args = importPath.ReplaceAllString(args, "")
	if len(args) > mostArguments {
		args = "…"
	}
	return part[:open+1] + args + part[end:]
}

// importPath matches the path in front of a package's name.
var importPath = regexp.MustCompile(`[\w.~%-]+(?:/[\w.~%-]+)*/`)

// Short returns a function's full name for a sentence, without the directories of its import path
// and without a major version: "(*http.Client).Do" for "(*net/http.Client).Do", "echo.New" for
// "github.com/labstack/echo/v4.New".
func Short(name string) string {
	bare := strings.TrimLeft(name, "(*")
	end := len(bare)
	if i := strings.IndexAny(bare, "[( "); i >= 0 {
		end = i // type arguments have paths of their own, and so has a file after the name
	}
	at := strings.LastIndexByte(bare[:end], '/') + 1
	before := name[:len(name)-len(bare)]
	if n := version(bare[at:]); n > 0 && at > 0 {
		dir := bare[:at-1]
		return before + dir[strings.LastIndexByte(dir, '/')+1:] + bare[at+n:]
	}
	return before + bare[at:]
}

// version returns the length of the major version with which a name starts, as in "v4.New"; 0 for
// none.
func version(name string) int {
	n := 1
	for n < len(name) && '0' <= name[n] && name[n] <= '9' {
		n++
	}
	if name == "" || name[0] != 'v' || n == 1 || n == len(name) || name[n] != '.' {
		return 0
	}
	return n
}
