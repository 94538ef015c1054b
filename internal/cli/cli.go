package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// Exit codes, the same for every command. Only gates use more (3 and 4).
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2

	exitWorse   = 3 // gates: a regression
	exitUnknown = 4 // gates: inconclusive
)

// command is one of hone's commands.
type command struct {
	name     string
	args     string   // "TARGET [-- ARGS]"
	short    string   // one line, for lists
	long     string   // paragraphs, for `hone help NAME`
	examples []string // complete command lines
	group    string   // heading in the overview
	// setup declares the command's flags on fs and returns the function to run after parsing;
	// declare adds the flags that all commands have.
	setup func(fs *flag.FlagSet) runFunc
}

// runFunc runs a command with its arguments and those after "--".
type runFunc func(ctx context.Context, env Env, args, rest []string) error

// usageError is a mistake in the command line: exit 2.
type usageError struct{ msg string }

func (e *usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// gateError is a gate's failure: exit 3 or 4.
type gateError struct {
	code int
	msg  string
}

func (e *gateError) Error() string { return e.msg }

// commands lists every command in the order of the overview.
func commands() []command {
	return []command{
		runCommand(), recordCommand(), findingsCommand(), recordingsCommand(), whyCommand(), reportCommand(), uiCommand(), tryCommand(), fixCommand(), proveCommand(),
		tuneCommand(), mcpCommand(), demoCommand(),
		topCommand(), listCommand(), disasmCommand(),
		treeCommand(), peekCommand(), graphCommand(), callgrindCommand(), protoCommand(), topprotoCommand(),
		tracesCommand(), tagsCommand(), rawCommand(), commentsCommand(), flameCommand(), foldedCommand(), speedscopeCommand(),
		diffCommand(), shellCommand(),
		traceCommand(),
		loadCommand(), benchCommand(), gateCommand(), historyCommand(), noiseCommand(), compareCommand(),
		rulesCommand(), doctorCommand(), completionCommand(), versionCommand(), helpCommand(),
	}
}

func lookup(name string) (command, bool) {
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == name })
	if i < 0 {
		return command{}, false
	}
	return all[i], true
}

// Main runs one command line and returns the exit code.
func Main(ctx context.Context, args []string, env Env) int {
	env, flush := env.escaped()
	err := dispatch(ctx, args, env)
	code := exitCode(ctx, env, err)
	if err := flush(); err != nil && code == exitOK {
		return exitFailed
	}
	return code
}

// exitCode prints an error to standard error, and returns its exit code.
func exitCode(ctx context.Context, env Env, err error) int {
	if err == nil {
		return exitOK
	}
	if errors.Is(err, syscall.EPIPE) {
		return exitFailed // the reader of the output has exited: hone top | head
	}
	text := strings.TrimRight(err.Error(), "\n")
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || signalled(err)) {
		// Print what hone was doing, without the last words of the error: "interrupted" replaces
		// them.
		for _, last := range []string{context.Canceled.Error(), "signal: interrupt", "signal: killed"} {
			text = strings.TrimSuffix(strings.TrimSuffix(text, last), ": ")
		}
		if !strings.Contains(text, "interrupt") {
			text = strings.TrimSuffix("interrupted: "+text, ": ")
		}
	}
	env.say("hone: %s", text)
	var usage *usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	var gate *gateError
	if errors.As(err, &gate) {
		return gate.code
	}
	return exitFailed
}

// signalled reports whether an error says that a signal ended a command: Ctrl-C also reaches the
// commands that hone runs.
func signalled(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && !exit.Exited()
}

func dispatch(ctx context.Context, args []string, env Env) error {
	if len(args) == 0 {
		return lesson(env)
	}
	args = pprofWords(args)
	name := args[0]
	switch name {
	case "-h", "-help", "--help":
		name = "help"
	case "-version", "--version":
		name = "version"
	}
	cmd, ok := lookup(name)
	if !ok {
		if hint := pprofHint(name); hint != "" {
			return usagef("no command %q%s", name, hint)
		}
		return usagef("unknown command %q%s; `hone help` lists the commands", name, suggest(name, commandNames()))
	}
	fs := flag.NewFlagSet("hone "+cmd.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	common := cmd.declare(fs)
	words, rest, err := parse(fs, args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return printHelp(env.Stdout, cmd)
	}
	if err != nil {
		return usagef("%s: %s%s; `hone help %s` lists its flags", cmd.name, err, suggestFlag(fs, err), cmd.name)
	}
	return common.run(ctx, env, words, rest)
}

// parse accepts flags before, between and after the arguments, as people type them; everything
// after "--" is passed on unchanged.
func parse(fs *flag.FlagSet, args []string) (words, rest []string, err error) {
	if i := slices.Index(args, "--"); i >= 0 {
		args, rest = args[:i], args[i+1:]
	}
	for {
		if err := fs.Parse(args); err != nil {
			return nil, nil, err
		}
		if fs.NArg() == 0 {
			return words, rest, nil
		}
		words = append(words, fs.Arg(0))
		args = fs.Args()[1:]
	}
}

func commandNames() []string {
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return names
}

func suggestFlag(fs *flag.FlagSet, err error) string {
	_, name, ok := strings.Cut(err.Error(), "flag provided but not defined: -")
	if !ok {
		return ""
	}
	var names []string
	fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return suggest(name, names)
}

// suggest returns a hint with the most similar of names, if one is at most two edits away.
func suggest(word string, names []string) string {
	best, bestDistance := "", 3
	for _, n := range names {
		d := editDistance(word, n)
		if swapped(word, n) { // the most frequent typo
			d = 0
		}
		if d < bestDistance && d < len(n) {
			best, bestDistance = n, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// swapped reports whether two words differ by two adjacent letters that are swapped.
func swapped(a, b string) bool {
	for i := range len(a) - 1 {
		if len(a) == len(b) && a[:i]+a[i+1:i+2]+a[i:i+1]+a[i+2:] == b {
			return true
		}
	}
	return false
}

// editDistance returns the Levenshtein distance.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// buffered collects a page and writes it at once, so that a closed pipe causes one error.
func buffered(w io.Writer, draw func(io.Writer) error) error {
	var b bytes.Buffer
	if err := draw(&b); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}
