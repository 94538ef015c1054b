package prompt

import (
	"errors"
	"fmt"
	"strings"
)

// Line is a line split into its parts.
type Line struct {
	Words []string // without their quotes
	File  string   // the file after ">", where the output goes; "" for none
	Pipe  string   // the text after "|", as typed; "" for none
}

// Parse splits a line at spaces outside single or double quotes. A ">" or "|" is special only at
// the start of a word, because most words are regular expressions, such as a|b. Backslashes are
// kept for the same reason. "#" starts a comment.
func Parse(line string) (Line, error) {
	var l Line
	rest := line
	for {
		rest = strings.TrimLeft(rest, " \t")
		switch {
		case rest == "" || rest[0] == '#':
			return l, nil
		case rest[0] == '|':
			if l.Pipe = strings.TrimSpace(rest[1:]); l.Pipe == "" {
				return l, errors.New("no program behind |")
			}
			if l.File != "" {
				return l, errors.New("the output goes to a file or to a program, not to both")
			}
			return l, nil
		case strings.HasPrefix(rest, ">>"):
			return l, errors.New(">> is not supported; > FILE replaces the file")
		case rest[0] == '>':
			word, after, err := cutWord(strings.TrimLeft(rest[1:], " \t"))
			if err != nil {
				return l, err
			}
			if word == "" {
				return l, errors.New("no file behind >")
			}
			l.File, rest = word, after
		default:
			word, after, err := cutWord(rest)
			if err != nil {
				return l, err
			}
			l.Words, rest = append(l.Words, word), after
		}
	}
}

// cutWord cuts the first word off a line that does not start with a space.
func cutWord(line string) (word, rest string, err error) {
	var b strings.Builder
	quote := byte(0)
	for i := range len(line) {
		switch c := line[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && (c == ' ' || c == '\t'):
			return b.String(), line[i:], nil
		default:
			b.WriteByte(c)
		}
	}
	if quote != 0 {
		return "", "", fmt.Errorf("unfinished %c quote in %s", quote, line)
	}
	return b.String(), "", nil
}
