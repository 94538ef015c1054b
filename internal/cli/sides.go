package cli

import (
	"flag"
	"os"
	"strings"
)

// sideFlags name the sources to compare, one or several per side.
type sideFlags struct {
	old, new list
	what     string // what a source is called: "source"
}

// declareSides adds -old and -new; what is the name of their values.
func (s *sideFlags) declareSides(fs *flag.FlagSet, what string) {
	s.what = what
	what = strings.ToUpper(what)
	fs.Var(&s.old, "old", "a `"+what+"` of the old side; may be given again")
	fs.Var(&s.new, "new", "a `"+what+"` of the new side; may be given again")
}

// sides returns the sources of both sides, from the arguments or from -old and -new.
func (s *sideFlags) sides(command string, args []string) (old, new []string, err error) {
	flags := len(s.old)+len(s.new) > 0
	switch {
	case flags && len(args) > 0:
		return nil, nil, usagef("%s: %s is neither -old nor -new: with these flags, give every %s with one of them", command, args[0], s.what)
	case flags && (len(s.old) == 0 || len(s.new) == 0):
		return nil, nil, usagef("%s: -old and -new must be given together", command)
	case flags:
		return s.old, s.new, nil
	case len(args) != 2:
		return nil, nil, usagef("%s: give two %ss, the old one first; give several per side as a,b or with -old and -new", command, s.what)
	}
	if old, err = sourceList(command, args[0]); err != nil {
		return nil, nil, err
	}
	new, err = sourceList(command, args[1])
	return old, new, err
}

// sourceList splits at commas, unless the argument is the name of a file or a URL.
func sourceList(command, arg string) ([]string, error) {
	if _, err := os.Stat(arg); err == nil || strings.Contains(arg, "://") {
		return []string{arg}, nil
	}
	sources := strings.Split(arg, ",")
	for _, s := range sources {
		if s == "" {
			return nil, usagef("%s: %q: an empty name; want a,b", command, arg)
		}
	}
	return sources, nil
}
