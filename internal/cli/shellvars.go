package cli

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// settings are the options for all commands of a shell: values of flags by name. A flag that can be
// repeated has several values.
type settings map[string][]string

// notSettings are flags that apply to one command line only.
var notSettings = []string{"e", "h", "o", "output", "format", "top", "q", "v", "max_memory"}

// longForm returns the name and value of the flag that a flag is short for: -cum is "sort" and
// "cum", -tls_key is "key" and "". For other flags it returns their name.
func longForm(f *flag.Flag) (name, value string) {
	_, usage := flag.UnquoteUsage(f)
	long, ok := strings.CutPrefix(usage, "same as -")
	if !ok {
		return f.Name, ""
	}
	name, value, _ = strings.Cut(strings.Fields(long)[0], "=")
	return name, value
}

// take stores the flags that were given on the shell's own command line.
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

// apply sets those flags of a command that its own line does not set.
func (s settings) apply(fs *flag.FlagSet) error {
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) {
		name, _ := longForm(f)
		given[name] = true
	})
	// -top and -nodecount are the same.
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

// assignment parses "name=value" and "name" if name is an option. Short forms are returned as long
// ones.
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

// option returns the flag of an option of the shell, or nil if there is none.
func (sh *shell) option(name string) *flag.Flag {
	if slices.Contains(notSettings, name) {
		return nil
	}
	return sh.options().Lookup(name)
}

// options returns the flags that can be set for all commands: those of every command of the shell.
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

// set changes an option if a command would accept the value; an empty value resets it.
func (sh *shell) set(name, value string) error {
	next := settings{}
	for k, v := range sh.settings {
		next[k] = v
	}
	if delete(next, name); value != "" {
		next[name] = []string{value}
	}
	// First check the value, then the options together.
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

// printOptions prints all options with their values, and marks those that were changed.
func (sh *shell) printOptions(w io.Writer) error {
	return buffered(w, func(w io.Writer) error {
		sh.options().VisitAll(func(f *flag.Flag) {
			long, _ := longForm(f)
			if long != f.Name || slices.Contains(notSettings, f.Name) {
				return
			}
			fmt.Fprintln(w, sh.optionLine(f))
		})
		_, err := fmt.Fprint(w, "\n* changed in this shell; NAME= resets it\n")
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
