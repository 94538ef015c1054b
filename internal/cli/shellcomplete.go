package cli

import (
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hone-go/hone/internal/screen"
)

// candidates returns the completions of the word under the cursor.
func (sh *shell) candidates(before []string, word string) []string {
	if name, value, ok := strings.Cut(word, "="); ok && len(before) == 0 {
		var found []string
		for _, v := range sh.values(name, value) {
			found = append(found, name+"="+v)
		}
		return found
	}
	if len(before) == 0 {
		var found []string
		for _, w := range withPrefix(sh.words(), word) {
			if f := sh.option(w); f != nil {
				if _, short := longForm(f); short == "" && !isBool(f) {
					w += "="
				}
			}
			found = append(found, w)
		}
		return found
	}
	if before[0] == "help" {
		return withPrefix(sh.words(), word)
	}
	cmd, _, ok := shellWord(before[0])
	if !ok {
		return nil
	}
	if rest, isFlag := strings.CutPrefix(word, "-"); isFlag {
		fs := flag.NewFlagSet("", flag.ContinueOnError)
		cmd.declare(fs)
		var names []string
		fs.VisitAll(func(f *flag.Flag) { names = append(names, "-"+f.Name) })
		if found := withPrefix(names, word); len(found) > 0 {
			return found
		}
		var found []string // a function to ignore
		for _, name := range sh.functions(rest) {
			found = append(found, "-"+name)
		}
		return found
	}
	return sh.functions(word)
}

// values returns the values that an option can have.
func (sh *shell) values(name, typed string) []string {
	f := sh.option(name)
	if f == nil {
		return nil
	}
	switch name {
	case "sample_index":
		var names []string
		for _, src := range sh.sources.kept {
			for _, t := range src.Profile.SampleTypes {
				if screen.Line(t.Type) == t.Type { // otherwise it cannot be typed
					names = append(names, t.Type)
				}
			}
		}
		slices.Sort(names)
		return withPrefix(slices.Compact(names), typed)
	case "sort", "granularity":
		var names []string
		sh.options().VisitAll(func(f *flag.Flag) {
			if long, value := longForm(f); long == name && value != "" {
				names = append(names, value)
			}
		})
		return withPrefix(names, typed)
	case "focus", "ignore", "hide", "show", "show_from", "prune_from":
		return sh.functions(typed)
	}
	if isBool(f) {
		return withPrefix([]string{"false", "true"}, typed)
	}
	return nil
}

// functions returns expressions for the functions whose name starts with the typed text or, if
// there are none, contains it.
func (sh *shell) functions(typed string) []string {
	typed = strings.ReplaceAll(typed, `\`, "")
	var begin, contain []string
	for _, src := range sh.sources.kept {
		for _, f := range src.Profile.Functions {
			switch {
			case strings.ContainsAny(f.Name, " '\""):
			case strings.HasPrefix(f.Name, typed):
				begin = append(begin, expression(f.Name))
			case strings.Contains(f.Name, typed):
				contain = append(contain, expression(f.Name))
			}
		}
	}
	if len(begin) == 0 {
		begin = contain
	}
	slices.Sort(begin)
	return slices.Compact(begin)
}

// expression returns a regular expression that matches a name, without control characters:
// unprintable characters are written by their code, and invalid UTF-8 as any character.
func expression(name string) string {
	var out strings.Builder
	for i, r := range name {
		_, n := utf8.DecodeRuneInString(name[i:])
		switch text := name[i : i+n]; {
		case r == utf8.RuneError && n == 1:
			out.WriteByte('.')
		case screen.Line(text) != text:
			fmt.Fprintf(&out, `\x{%x}`, r)
		default:
			out.WriteString(regexp.QuoteMeta(text))
		}
	}
	return out.String()
}

func isBool(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

func withPrefix(words []string, prefix string) []string {
	var found []string
	for _, w := range words {
		if strings.HasPrefix(w, prefix) {
			found = append(found, w)
		}
	}
	return found
}

// mostChoices is the largest number of choices that are shown.
const mostChoices = 60

// printChoices writes choices in columns.
func printChoices(w io.Writer, choices []string, width int) {
	more := len(choices) - mostChoices
	if more > 0 {
		choices = choices[:mostChoices]
	}
	widest := 0
	for _, c := range choices {
		widest = max(widest, utf8.RuneCountInString(c))
	}
	columns := max(1, width/(widest+2))
	var b strings.Builder
	for i, c := range choices {
		b.WriteString(c)
		if i%columns == columns-1 || i == len(choices)-1 {
			b.WriteString("\n")
		} else {
			b.WriteString(strings.Repeat(" ", widest+2-utf8.RuneCountInString(c)))
		}
	}
	if more > 0 {
		fmt.Fprintf(&b, "… and %d more\n", more)
	}
	io.WriteString(w, b.String()) // to a terminal; an error could not be reported
}
