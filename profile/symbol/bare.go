package symbol

import "strings"

// Bare removes the type arguments, or type parameters, from a function's name:
//
//	a/b.(*Cache[go.shape.string]).Get   a/b.(*Cache).Get
//	(*a/b.Cache[K, V]).Get              (*a/b.Cache).Get
//	slices.Index[...]                   slices.Index
func Bare(name string) string {
	if strings.IndexByte(name, '[') < 0 {
		return name // the common case
	}
	var b strings.Builder
	depth := 0
	for i := range len(name) {
		switch c := name[i]; {
		case c == '[':
			depth++
		case c == ']':
			depth = max(0, depth-1)
		case depth == 0:
			b.WriteByte(c)
		}
	}
	return b.String()
}
