package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
)

func helpCommand() command {
	return command{
		name: "help", args: "[COMMAND]", group: "about hone",
		short: "explain a command",
		setup: func(*flag.FlagSet) runFunc {
			return func(_ context.Context, env Env, args, _ []string) error {
				if len(args) == 0 {
					return overview(env.Stdout)
				}
				cmd, ok := lookup(args[0])
				if !ok {
					return usagef("help: unknown command %q%s; `hone help` lists the commands", args[0], suggest(args[0], commandNames()))
				}
				return printHelp(env.Stdout, cmd)
			}
		},
	}
}

// lesson is the output of `hone` alone: what hone is for, and the first commands to try.
func lesson(env Env) error {
	_, err := fmt.Fprint(env.Stdout, `hone finds where a Go program spends CPU, memory and time, explains each costly line, and measures the fix.

Try it now, on a service that comes with hone:

    hone demo

Then on your own program, without editing it:

    hone run ./cmd/server -load http://127.0.0.1:8080/path     build a service, send it requests, diagnose it
    hone run ./cmd/job -- -n 1000                              a program that runs and exits
    hone run -bench BenchmarkX ./pkg                           benchmarks of a package
    hone run http://127.0.0.1:6060                             a running service with net/http/pprof

`+"`hone help`"+` lists all commands, `+"`hone help run`"+` explains one, `+"`hone doctor`"+` checks this machine.
`)
	return err
}

func overview(w io.Writer) error {
	return buffered(w, func(w io.Writer) error {
		fmt.Fprintln(w, "usage: hone COMMAND [flags] [arguments] [-- arguments of the program]")
		group := ""
		for _, c := range commands() {
			if c.group != group {
				group = c.group
				fmt.Fprintf(w, "\n%s\n", group)
			}
			fmt.Fprintf(w, "    %-12s %s\n", c.name, c.short)
		}
		fmt.Fprint(w, "\nFlags start with one dash or two and may appear anywhere before --. `hone help COMMAND` explains a command.\n"+
			"Exit codes: 0 success, 1 failure (of hone or the target), 2 wrong usage; with -gate 3 regression, 4 inconclusive.\n")
		return nil
	})
}

func printHelp(w io.Writer, c command) error {
	return buffered(w, func(w io.Writer) error {
		fmt.Fprintf(w, "usage: hone %s %s\n\n%s\n", c.name, c.args, capitalise(c.short)+".")
		if c.long != "" {
			fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(c.long))
		}
		if len(c.examples) > 0 {
			fmt.Fprintln(w, "\nexamples:")
			for _, e := range c.examples {
				fmt.Fprintf(w, "    %s\n", e)
			}
		}
		fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.declare(fs)
		any := false
		var short []string // forms of other flags
		fs.VisitAll(func(f *flag.Flag) {
			if !any {
				fmt.Fprintln(w, "\nflags:")
				any = true
			}
			name, usage := flag.UnquoteUsage(f)
			if long, ok := strings.CutPrefix(usage, "same as "); ok {
				short = append(short, "-"+f.Name+" is "+long)
				return
			}
			def := ""
			if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "0s" {
				def = " (default " + f.DefValue + ")"
			}
			fmt.Fprintf(w, "    %-22s %s%s\n", strings.TrimSpace("-"+f.Name+" "+name), usage, def)
		})
		if len(short) > 0 {
			fmt.Fprintln(w, "\nshort forms:")
			for _, line := range fill(short, 92) {
				fmt.Fprintf(w, "    %s\n", line)
			}
		}
		return nil
	})
}

func capitalise(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// fill joins items with commas into lines of at most width bytes.
func fill(items []string, width int) []string {
	var lines []string
	line := ""
	for i, item := range items {
		if i < len(items)-1 {
			item += ","
		}
		if line != "" && len(line)+1+len(item) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+item, " ")
	}
	return append(lines, line)
}
