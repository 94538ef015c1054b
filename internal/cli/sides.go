package cli

import (
	"flag"
	"os"
	"strings"
)

// sideFlags name what is compared, several a side where there are.
type sideFlags struct {
	old, new list
	what     string // the word for one of them: "source"
}

// declareSides adds -old and -new; what is the word for one of their values.
func (s *sideFlags) declareSides(fs *flag.FlagSet, what string) {
	s.what = what
	what = strings.ToUpper(what)
	fs.Var(&s.old, "old", "a `"+what+"` of the old side; may be given again")
	fs.Var(&s.new, "new", "a `"+what+"` of the new side; may be given again")
}

// sides are the sources of both sides, from the arguments or from -old and -new.
func (s *sideFlags) sides(command string, args []string) (old, new []string, err error) {
	flags := len(s.old)+len(s.new) > 0
	switch {
	case flags && len(args) > 0:
		return nil, nil, usagef("%s: what is %s? with -old and -new every %s needs one of them", command, args[0], s.what)
	case flags && (len(s.old) == 0 || len(s.new) == 0):
		return nil, nil, usagef("%s: -old and -new go together", command)
	case flags:
		return s.old, s.new, nil
	case len(args) != 2:
		return nil, nil, usagef("%s: name two %ss, the old one first; several of a side as a,b or with -old and -new", command, s.what)
	}
	if old, err = sourceList(command, args[0]); err != nil {
		return nil, nil, err
	}
	new, err = sourceList(command, args[1])
	return old, new, err
}

// sourceList splits at commas, unless a file has them in its name; a URL may, too.
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
