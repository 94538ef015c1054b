package changed

import (
	"errors"
	"net/url"
	"strings"
)

// parts splits a function's name in a profile into its package and the parts that follow:
// "a/b.(*T).F.func1" into "a/b", and "T", "F", "func1". Type arguments are left out.
func parts(name string) (pkg string, rest []string, err error) {
	name, _, _ = strings.Cut(name, " (") // "(closure 1)" of readable names
	name = withoutArguments(name)
	slash := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[slash:], '.')
	if dot <= 0 {
		return "", nil, errors.New("not the name of a function with a package")
	}
	// A dot of the last element of the path is escaped, except in the names that people write.
	pkg, text := name[:slash+dot], name[slash+dot+1:]
	if version, after, ok := strings.Cut(text, "."); ok && strings.HasPrefix(name, "gopkg.in/") && isVersion(version) {
		pkg, text = pkg+"."+version, after
	}
	if plain, err := url.PathUnescape(pkg); err == nil {
		pkg = plain
	}
	for part := range strings.SplitSeq(text, ".") {
		part = strings.TrimSuffix(strings.Trim(part, "(*)"), "-fm")
		rest = append(rest, part)
	}
	return pkg, rest, nil
}

func isVersion(s string) bool {
	return len(s) > 1 && s[0] == 'v' && strings.Trim(s[1:], "0123456789") == ""
}

// withoutArguments removes what is in brackets.
func withoutArguments(name string) string {
	if !strings.Contains(name, "[") {
		return name
	}
	var b strings.Builder
	depth := 0
	for i := range len(name) {
		switch c := name[i]; {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case depth == 0:
			b.WriteByte(c)
		}
	}
	return b.String()
}
