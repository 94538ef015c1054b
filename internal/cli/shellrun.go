package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/hone-go/hone/internal/prompt"
)

// shellWord finds the command for a word at the prompt, and the words that follow it: "top", "top7"
// (top with 7), or one of pprof's names.
func shellWord(word string) (cmd command, follow []string, ok bool) {
	name := strings.TrimRight(word, "0123456789")
	if count := word[len(name):]; count != "" {
		follow = []string{count}
	}
	all := shellCommands()
	named := func(name string) bool {
		i := slices.IndexFunc(all, func(c command) bool { return c.name == name })
		if i >= 0 {
			cmd = all[i]
		}
		return i >= 0
	}
	if named(name) {
		return cmd, follow, true
	}
	if known, _ := pprofReport(name); known != "" {
		words := strings.Fields(known)
		ok = named(words[0])
		return cmd, append(words[1:], follow...), ok
	}
	return cmd, nil, false
}

// words lists the possible first words of a line.
func (sh *shell) words() []string {
	words := []string{"exit", "help", "options", "quit", "web"}
	for _, c := range shellCommands() {
		words = append(words, c.name)
	}
	sh.options().VisitAll(func(f *flag.Flag) {
		if !slices.Contains(notSettings, f.Name) {
			words = append(words, f.Name)
		}
	})
	slices.Sort(words)
	return words
}

// report runs one of the reports.
func (sh *shell) report(ctx context.Context, env Env, l prompt.Line) error {
	word := l.Words[0]
	cmd, follow, ok := shellWord(word)
	if !ok {
		return sh.unknown(word)
	}
	fs := flag.NewFlagSet(cmd.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	common := cmd.declare(fs)
	flags, args, err := shellArguments(cmd, fs, append(follow, l.Words[1:]...))
	if err == nil {
		err = fs.Parse(flags)
	}
	if errors.Is(err, flag.ErrHelp) {
		return printHelp(env.Stdout, cmd)
	}
	if err == nil {
		err = sh.settings.apply(fs)
	}
	if err != nil {
		return usagef("%s: %v; `help %s` lists its flags", cmd.name, err, cmd.name)
	}
	set := func(name, value string) {
		if f := fs.Lookup(name); f != nil && f.Value.String() == "" && value != "" {
			err = errors.Join(err, fs.Set(name, value))
		}
	}
	set("binary", sh.binary)
	if l.File != "" {
		set("o", absolute(env.Dir, l.File))
	} else if pattern := pageName(word); pattern != "" && l.Pipe == "" && unnamed(fs) {
		page, e := sh.page(pattern)
		if e != nil {
			return e
		}
		set("o", page)
	}
	if err != nil {
		return usagef("%s: %v", cmd.name, err)
	}
	return common.run(ctx, env, args, nil)
}

// pageName returns the file name pattern for a word that writes a page for a browser, or "" for
// other words.
func pageName(word string) string {
	switch strings.TrimRight(word, "0123456789") {
	case "web":
		return "graph-*.svg"
	case "flame":
		return "flame-*.html"
	}
	return ""
}

// unnamed reports whether a command that writes a page got no file name.
func unnamed(fs *flag.FlagSet) bool {
	return fs.Lookup("o").Value.String() == "" && fs.Lookup("json").Value.String() != "true"
}

// unknown returns an error that says what to type instead of a word.
func (sh *shell) unknown(word string) error {
	name, _, isSet := strings.Cut(word, "=")
	switch {
	case isSet:
		return usagef("no option %q%s; `options` shows all", name, suggest(name, sh.words()))
	case word == "diff":
		return usagef("diff compares two sources, and the shell has one; diff_base=OLD subtracts a source")
	}
	if _, ok := lookup(word); ok {
		return usagef("%s is not a report; leave the shell for `hone %s`", word, word)
	}
	if hint := pprofHint(word); hint != "" {
		return usagef("no command %q%s", word, hint)
	}
	return usagef("unknown command %q%s; `help` lists the commands", word, suggest(word, sh.words()))
}

// shellArguments interprets the words after a command as pprof does: a number is a count, and other
// words are regular expressions to focus on or, after a "-", to ignore, unless they are flags of
// the command. If the command needs an expression, that is its first word.
func shellArguments(cmd command, fs *flag.FlagSet, words []string) (flags, args []string, err error) {
	needs := strings.HasPrefix(cmd.args, "REGEXP")
	var count string
	var focus, ignore []string
	for i := 0; i < len(words); i++ {
		word := words[i]
		name, _, hasValue := strings.Cut(strings.TrimLeft(word, "-"), "=")
		f := fs.Lookup(name)
		isFlag := len(word) > 1 && word[0] == '-' && (f != nil || name == "h" || name == "help")
		_, notNumber := strconv.Atoi(word)
		switch {
		case isFlag:
			flags = append(flags, word)
			if f != nil && !hasValue && !isBool(f) {
				if i++; i == len(words) {
					return nil, nil, fmt.Errorf("-%s needs a value", name)
				}
				flags = append(flags, words[i])
			}
		case needs && len(args) == 0 && word != "" && word[0] != '-':
			args = append(args, word)
		case notNumber == nil:
			count = word
		case len(word) > 1 && word[0] == '-':
			ignore = append(ignore, word[1:])
		case word != "":
			focus = append(focus, word)
		}
	}
	switch n, err := strconv.Atoi(count); {
	case count == "":
	case err == nil && n < 0:
		flags = append(flags, "-trim=false")
	default:
		flags = append(flags, "-nodecount="+count)
	}
	prefix := "-"
	if cmd.name == "tags" {
		prefix = "-tag"
	}
	if len(focus) > 0 {
		flags = append(flags, prefix+"focus="+strings.Join(focus, "|"))
	}
	if len(ignore) > 0 {
		flags = append(flags, prefix+"ignore="+strings.Join(ignore, "|"))
	}
	return flags, args, nil
}

// keepPages is the number of pages without a user's file name that stay in the cache.
const keepPages = 20

// page returns a new file in hone's cache, and removes old ones.
func (sh *shell) page(pattern string) (string, error) {
	if sh.env.CacheDir == "" {
		return "", sh.env.CacheErr
	}
	dir := filepath.Join(sh.env.CacheDir, "pages")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	old, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return "", err
	}
	age := func(name string) int64 {
		info, err := os.Stat(name)
		if err != nil {
			return 0 // another hone removed it
		}
		return info.ModTime().UnixNano()
	}
	slices.SortFunc(old, func(a, b string) int { return int(min(1, max(-1, age(a)-age(b)))) })
	for len(old) >= keepPages {
		os.Remove(old[0]) // if it cannot be removed, the next call tries again
		old = old[1:]
	}
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// output runs with the program of the line, if there is one, instead of standard output. Output to
// a file is written by report, which knows the flag for it.
func (sh *shell) output(ctx context.Context, l prompt.Line, run func(Env) error) error {
	env := sh.commandEnv()
	if l.Pipe == "" {
		return run(env)
	}
	if runtime.GOOS == "windows" {
		return usagef("| %s: sending output to a program needs a Unix shell; write it to a file with > FILE", l.Pipe)
	}
	p := &pipe{ctx: sh.ctx, env: env, program: l.Pipe}
	env, flush := env.plainStdout(p)
	err := run(env)
	if e := flush(); err == nil {
		err = e
	}
	if errors.Is(err, syscall.EPIPE) {
		err = nil // the program has read enough, like head
	}
	if err == nil {
		_, err = p.Write(nil) // start the program even for an empty report
	}
	return errors.Join(err, p.close())
}

// pipe writes to a program that the user named. The program starts at the first write, so that a
// command that fails shows its error rather than an empty pager.
type pipe struct {
	ctx     context.Context // of the shell: Ctrl-C is handled by the program
	env     Env
	program string
	cmd     *exec.Cmd
	in      io.WriteCloser
}

func (p *pipe) Write(b []byte) (int, error) {
	if p.cmd == nil {
		p.cmd = exec.CommandContext(p.ctx, "sh", "-c", p.program)
		p.cmd.Dir = p.env.Dir
		p.cmd.Stdout, p.cmd.Stderr = p.env.raw()
		var err error
		if p.in, err = p.cmd.StdinPipe(); err == nil {
			err = p.cmd.Start()
		}
		if err != nil {
			p.cmd = nil
			return 0, fmt.Errorf("| %s: %w", p.program, err)
		}
	}
	if len(b) == 0 {
		return 0, nil
	}
	return p.in.Write(b)
}

// close waits until the program exits.
func (p *pipe) close() error {
	if p.cmd == nil {
		return nil
	}
	p.in.Close() // the program's exit code says more than this error
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("| %s: %w", p.program, err)
	}
	return nil
}
