package textual

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hone-go/hone/profile"
)

// Folded stacks, as stackcollapse scripts, async-profiler and others write them:
// frames from the root to the leaf, a space, a count.
//
//	main.main;main.handle;encoding/json.Marshal 12

func isFolded(head []string) bool {
	semicolon := false
	for _, line := range head {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		stack, _, err := cutCount(line)
		if err != nil {
			return false
		}
		semicolon = semicolon || strings.Contains(stack, ";")
	}
	// Many other texts consist of lines with one word and a number.
	return semicolon
}

func cutCount(line string) (stack string, n int64, err error) {
	stack, count, ok := cutLast(line, " ")
	if !ok || strings.TrimSpace(stack) == "" {
		return "", 0, fmt.Errorf("%s: want ROOT;…;LEAF COUNT", shorten(line))
	}
	if n, err = strconv.ParseInt(count, 10, 64); err != nil || n < 0 {
		return "", 0, fmt.Errorf("%s: want a count at the end", shorten(line))
	}
	return stack, n, nil
}

func readFolded(r *reader) (*profile.Profile, error) {
	what := profile.ValueType{Type: "samples", Unit: "count"}
	b := profile.NewBuilder(what)
	var stack []profile.FrameSpec
	for r.nextFull() {
		text, n, err := cutCount(r.text)
		if err != nil {
			return nil, err
		}
		stack = stack[:0]
		for more := true; more; {
			var name string
			if i := strings.LastIndexByte(text, ';'); i >= 0 {
				text, name = text[:i], text[i+1:]
			} else {
				name, more = text, false
			}
			if name == "" {
				continue // a;;b, or ; at the start or end
			}
			if stack = append(stack, profile.FrameSpec{Function: r.name(name)}); len(stack) > maxFrames {
				return nil, errStack
			}
		}
		b.Add(stack, n)
	}
	p, err := b.Profile()
	if err != nil {
		return nil, err
	}
	p.PeriodType, p.Period = what, 1
	return p, nil
}
