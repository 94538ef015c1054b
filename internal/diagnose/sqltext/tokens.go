package sqltext

import "strings"

// Tokens splits SQL into lower-case words, numbers and signs. Quoted names become words, literals
// "'", and parameters of any notation "?". Comments are left out.
func Tokens(sql string) []string {
	var out []string
	for i := 0; i < len(sql); {
		c := sql[i]
		rest := sql[i:]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case strings.HasPrefix(rest, "--"):
			i += until(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			i += until(rest, "*/")
		case c == '\'':
			n := 1 + until(rest[1:], "'")
			for strings.HasPrefix(rest[n:], "'") { // '' within a literal
				n += 1 + until(rest[n+1:], "'")
			}
			out = append(out, "'")
			i += n
		case c == '"' || c == '`':
			n := 1 + until(rest[1:], string(c))
			out = append(out, strings.ToLower(strings.Trim(rest[:n], `"`+"`")))
			i += n
		case c == '[':
			n := until(rest, "]")
			out = append(out, strings.ToLower(strings.Trim(rest[:n], "[]")))
			i += n
		case c == '?' || (c == '$' || c == ':' || c == '@') && len(rest) > 1 && word(rest[1]):
			n := 1
			for n < len(rest) && word(rest[n]) {
				n++
			}
			out = append(out, "?")
			i += n
		case word(c):
			n := 1
			for n < len(rest) && word(rest[n]) {
				n++
			}
			out = append(out, strings.ToLower(rest[:n]))
			i += n
		default:
			n := 1
			if len(rest) > 1 && strings.Contains("<= >= <> != == ::", rest[:2]) && rest[1] != ' ' {
				n = 2
			}
			out = append(out, rest[:n])
			i += n
		}
	}
	return out
}

// until returns the length of a text up to and including a mark; all of it when it has none.
func until(text, mark string) int {
	if i := strings.Index(text, mark); i >= 0 {
		return i + len(mark)
	}
	return len(text)
}

func word(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// Named reports whether a token is a name or a keyword.
func Named(token string) bool {
	return token != "" && word(token[0]) && (token[0] < '0' || token[0] > '9')
}

// Closing returns the index of the parenthesis that closes the one at open, or the number of
// tokens.
func Closing(ts []string, open int) int {
	depth := 0
	for i := open; i < len(ts); i++ {
		switch ts[i] {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(ts)
}

// Split cuts tokens at a token outside of parentheses.
func Split(ts []string, at string) (parts [][]string) {
	from := 0
	for i := 0; i < len(ts); i++ {
		switch ts[i] {
		case "(":
			i = Closing(ts, i)
		case at:
			parts = append(parts, ts[from:i])
			from = i + 1
		}
	}
	return append(parts, ts[from:])
}
