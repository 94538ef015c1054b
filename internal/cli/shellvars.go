package cli

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// settings are the options that hold for all commands of a shell: the values of
// flags by their names. A flag that may be given again has several.
type settings map[string][]string

// notSettings are flags of one command line only.
var notSettings = []string{"e", "h", "o", "output", "format", "top", "q", "v", "max_memory"}

// longForm returns what a flag is short for: -cum is "sort" and "cum", -tls_key
// is "key" and ""; of others their own name.
func longForm(f *flag.Flag) (name, value string) {
	_, usage := flag.UnquoteUsage(f)
	long, ok := strings.CutPrefix(usage, "same as -")
	if !ok {
		return f.Name, ""
	}
	name, value, _ = strings.Cut(strings.Fields(long)[0], "=")
	return name, value
}

// take keeps the flags that were given on the command line of the shell itself.
func (s settings) take(fs *flag.FlagSet) {
	fs.Visit(func(f *flag.Flag) {
		name, _ := longForm(f)
		if slices.Contains(notSettings, name) {
			return
		}
		switch v := fs.Lookup(name).Value.(type) {
		case *list:
			s[name] = slices.Clone(*v)
		default:
			s[name] = []string{v.String()}
		}
	})
}

// apply sets the flags of a command that its own line leaves open.
func (s settings) apply(fs *flag.FlagSet) error {
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) {
		name, _ := longForm(f)
		given[name] = true
	})
	// Aliases.
	given["nodecount"] = given["nodecount"] || given["top"]
	given["trim"] = given["trim"] || given["top"]
	for name, values := range s {
		if given[name] || fs.Lookup(name) == nil {
			continue
		}
		for _, v := range values {
			if err := fs.Set(name, v); err != nil {
				return fmt.Errorf("-%s: %w", name, err)
			}
		}
	}
	return nil
}

// assignment takes "name=value" and "name" apart when name is an option. What is
// given as a short form is returned as the long one.
func (sh *shell) assignment(line string) (name, value string, isSet, ok bool) {
	name, value, isSet = strings.Cut(strings.TrimSpace(line), "=")
	name = strings.TrimSpace(name)
	if value = strings.TrimSpace(value); len(value) > 1 && (value[0] == '\'' || value[0] == '"') && value[len(value)-1] == value[0] {
		value = value[1 : len(value)-1]
	}
	f := sh.option(name)
	if f == nil {
		return name, value, isSet, false
	}
	long, fixed := longForm(f)
	if fixed == "" {
		if isBool(f) && !isSet {
			return long, "true", true, true
		}
		return long, value, isSet, true
	}
	return long, fixed, true, true
}

// option returns the flag behind an option of the shell, nil when there is none.
func (sh *shell) option(name string) *flag.Flag {
	if slices.Contains(notSettings, name) {
		return nil
	}
	return sh.options().Lookup(name)
}

// options are the flags that settings may be of, those of all commands of the shell.
func (sh *shell) options() *flag.FlagSet {
	all := flag.NewFlagSet("", flag.ContinueOnError)
	all.SetOutput(io.Discard)
	for _, c := range shellCommands() {
		fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.declare(fs)
		fs.VisitAll(func(f *flag.Flag) {
			if all.Lookup(f.Name) == nil {
				all.Var(f.Value, f.Name, f.Usage)
			}
		})
	}
	return all
}

// set changes an option when a command would accept it; an empty value resets it.
func (sh *shell) set(name, value string) error {
	next := settings{}
	for k, v := range sh.settings {
		next[k] = v
	}
	if delete(next, name); value != "" {
		next[name] = []string{value}
	}
	// The first check is of the value, the second of the options together.
	if err := sh.options().Set(name, value); value != "" && err != nil {
		return usagef("%s=%s: %v", name, value, err)
	}
	var p profileFlags
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	p.declare(fs, "")
	if err := next.apply(fs); err != nil {
		return usagef("%v", err)
	}
	o, err := p.options()
	if err != nil {
		return err
	}
	if _, _, err := p.bases(); err != nil && name != "normalize" {
		return err
	}
	if name == "sample_index" && value != "" {
		env := sh.env
		env.sources = sh.sources.open
		read, err := p.source(o.SampleIndex)
		if err != nil {
			return err
		}
		cfg, prog, err := p.session(env)
		if err != nil {
			return err
		}
		defer prog.clear()
		src, err := env.open(sh.sources.ctx, env.opener(cfg, read), []string{""})
		if err != nil {
			return err
		}
		if _, err := src.Profile.SampleIndex(o.SampleIndex); err != nil {
			return usagef("sample_index=%s: %v", value, err)
		}
	}
	sh.settings = next
	return nil
}

// printOptions writes all options with their values; those that were changed
// have a mark.
func (sh *shell) printOptions(w io.Writer) error {
	return buffered(w, func(w io.Writer) error {
		sh.options().VisitAll(func(f *flag.Flag) {
			long, _ := longForm(f)
			if long != f.Name || slices.Contains(notSettings, f.Name) {
				return
			}
			fmt.Fprintln(w, sh.optionLine(f))
		})
		_, err := fmt.Fprint(w, "\n* changed in this shell; NAME= sets it back\n")
		return err
	})
}

func (sh *shell) optionLine(f *flag.Flag) string {
	_, usage := flag.UnquoteUsage(f)
	mark, value := " ", f.DefValue
	if set, ok := sh.settings[f.Name]; ok {
		mark, value = "*", strings.Join(set, " ")
	}
	return fmt.Sprintf("%s %-32s %s", mark, f.Name+" = "+value, usage)
}
