package cli

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/prompt"
	"github.com/hone-go/hone/internal/source"
)

func shellCommand() command {
	return command{
		name: "shell", args: "[SOURCE...]", group: "profiles",
		short: "reports at a prompt; sources are read only once",
		long: sourceHelp + `

The prompt accepts hone's commands without a source (top, list REGEXP, tree, flame, …), and pprof's
syntax: top7, focus=REGEXP, options, > file, | less, quit. See help at the prompt. Flags given here apply to all
commands until they are changed. If standard input is not a terminal, hone reads commands from it, one per line.`,
		examples: []string{
			"hone shell cpu.pprof",
			"hone shell -sample_index=alloc_space -focus 'json\\.' rec.hone",
			"hone shell -seconds 10 http://127.0.0.1:6060/debug/pprof/profile",
			"hone shell -e cpu.pprof < commands.txt",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var p profileFlags
			p.declare(fs, "")
			stop := fs.Bool("e", false, "if standard input is not a terminal: exit with code 1 at the first command that fails")
			return func(ctx context.Context, env Env, args, _ []string) error {
				sh := newShell(ctx, env, args)
				if slices.Contains(sh.sources.args, "-") {
					return usagef("shell: commands come from standard input, so a source cannot; name a file")
				}
				sh.settings.take(fs)
				in, out, typed := terminal(env)
				if typed {
					defer sh.signals()()
				}
				v, err := p.view(ctx, sh.commandEnv(), nil)
				if err != nil {
					return err
				}
				if typed {
					return sh.interact(in, out, v)
				}
				return sh.script(*stop)
			}
		},
	}
}

// shell runs reports on sources that are read only once.
type shell struct {
	ctx      context.Context // ends the shell
	env      Env
	binary   string // the program, if it was named before the sources
	sources  *keptSources
	settings settings
}

func newShell(ctx context.Context, env Env, args []string) *shell {
	sh := &shell{ctx: ctx, env: env, settings: settings{}}
	sh.binary, args = splitBinary(args)
	if len(args) == 0 {
		args = []string{""}
	}
	sh.sources = &keptSources{ctx: ctx, args: args, stdin: strings.NewReader(""), kept: map[string]*source.Source{}}
	return sh
}

// commandEnv is the Env of commands in the shell.
func (sh *shell) commandEnv() Env {
	env := sh.env
	env.Stdin = strings.NewReader("")
	env.sources = sh.sources.open
	return env
}

// shellCommands are hone's commands that the shell accepts: the reports on one source.
func shellCommands() []command {
	var reports []command
	for _, c := range commands() {
		if c.group == "profiles" && c.name != "diff" && c.name != "shell" {
			reports = append(reports, c)
		}
	}
	return reports
}

// errQuit ends the shell.
var errQuit = errors.New("quit")

// script runs the commands on standard input.
func (sh *shell) script(stop bool) error {
	lines := bufio.NewScanner(sh.env.Stdin)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		err := sh.line(sh.ctx, lines.Text())
		switch {
		case errors.Is(err, errQuit):
			return nil
		case sh.ctx.Err() != nil:
			return sh.ctx.Err()
		case err != nil && stop:
			return fmt.Errorf("line %d: %s", n, err) // all errors of a script have one exit code
		case err != nil:
			sh.env.say("hone: line %d: %s", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read commands: %w", err)
	}
	return nil
}

// line runs one line.
func (sh *shell) line(ctx context.Context, line string) error {
	// The value of an option is a regular expression, so in focus=a | b, the bar does not start a
	// program.
	if name, value, isSet, ok := sh.assignment(line); ok {
		if isSet {
			return sh.set(name, value)
		}
		_, err := fmt.Fprintln(sh.env.Stdout, sh.optionLine(sh.option(name)))
		return err
	}
	l, err := prompt.Parse(line)
	if err != nil {
		return usagef("%v", err)
	}
	if len(l.Words) == 0 {
		if l.File != "" || l.Pipe != "" {
			return usagef("no command; `help` lists them")
		}
		return nil
	}
	return sh.output(ctx, l, func(env Env) error {
		switch word := l.Words[0]; word {
		case "quit", "exit", "q":
			return errQuit
		case "options", "o":
			return sh.printOptions(env.Stdout)
		case "help", "h", "?":
			return sh.help(env.Stdout, l.Words[1:])
		case ":":
			for _, name := range []string{"focus", "ignore", "hide", "tagfocus", "tagignore"} {
				delete(sh.settings, name)
			}
			return nil
		}
		return sh.report(ctx, env, l)
	})
}

// help explains the shell, a command or an option.
func (sh *shell) help(w io.Writer, words []string) error {
	if len(words) == 0 {
		return shellHelp(w)
	}
	if f := sh.option(words[0]); f != nil {
		_, err := fmt.Fprintln(w, sh.optionLine(f))
		return err
	}
	if cmd, _, ok := shellWord(words[0]); ok {
		return printHelp(w, cmd)
	}
	return usagef("help: no command or option %q%s", words[0], suggest(words[0], sh.words()))
}

func shellHelp(w io.Writer) error {
	return buffered(w, func(w io.Writer) error {
		fmt.Fprint(w, "commands (help NAME lists a command's flags):\n")
		for _, c := range shellCommands() {
			fmt.Fprintf(w, "    %-12s %s\n", c.name, c.short)
		}
		_, err := fmt.Fprint(w, `    web          the call graph as a file for your browser
    options, o   all options with their values
    :            reset focus, ignore, hide, tagfocus, tagignore
    quit, exit   leave the shell, like Ctrl-D
pprof's names work, too: text is top, dot and svg are graph, weblist is list.

after a command:
    7            number of rows or nodes: top 7, or top7
    REGEXP       focus, for this command; with tags: on labels
    -REGEXP      ignore, for this command
    -FLAG        any flag of the command: top -cum -lines
    > FILE       write to a file
    | PROGRAM    send to a program: top | less

options apply to all following commands:
    focus=json\.                  set; focus= resets it; focus alone shows it
    sample_index=alloc_objects
    lines                         short for granularity=lines
    call_tree                     short for call_tree=true

Tab completes commands, options and functions; the arrow keys recall earlier lines.
`)
		return err
	})
}
