package cli

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/session"
)

func completionCommand() command {
	return command{
		name: "completion", args: "bash|zsh|fish", group: "about hone",
		short: "print a script that completes commands and flags in your shell",
		examples: []string{
			"source <(hone completion bash)",
			"hone completion zsh > \"${fpath[1]}/_hone\"",
			"hone completion fish > ~/.config/fish/completions/hone.fish",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			return func(_ context.Context, env Env, args, _ []string) error {
				if len(args) != 1 {
					return usagef("completion: give a shell: bash, zsh or fish")
				}
				if args[0] == "recordings" { // the scripts ask for these
					return printRecordings(env)
				}
				draw, ok := map[string]func(io.Writer, []completion){
					"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion,
				}[args[0]]
				if !ok {
					return usagef("completion: no script for %q; there are bash, zsh and fish", args[0])
				}
				return buffered(env.Stdout, func(w io.Writer) error {
					draw(w, completions())
					return nil
				})
			}
		},
	}
}

// printRecordings prints the labels and names of the recordings in the cache.
func printRecordings(env Env) error {
	list, err := session.Config{CacheDir: env.CacheDir}.Shelf().List()
	if err != nil {
		return err
	}
	for _, e := range list {
		if _, err := fmt.Fprintln(env.Stdout, cmp.Or(e.Label, e.Name)); err != nil {
			return err
		}
	}
	return nil
}

// completion is what a shell needs to complete one command.
type completion struct {
	name, short string
	flags       []string
	words       []string // words that can follow it: views, rules, commands
	recordings  bool     // it takes a recording
}

func completions() []completion {
	var all []completion
	for _, c := range commands() {
		fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.declare(fs)
		entry := completion{name: c.name, short: c.short, words: following(c.name), recordings: readsRecordings.MatchString(c.args)}
		fs.VisitAll(func(f *flag.Flag) { entry.flags = append(entry.flags, "-"+f.Name) })
		all = append(all, entry)
	}
	return all
}

// readsRecordings matches the arguments of commands that take a recording.
var readsRecordings = regexp.MustCompile(`\b(SOURCE|REC|OLD)\b`)

// following lists the words that can follow a command.
func following(name string) (words []string) {
	switch name {
	case "trace":
		for _, v := range traceViews() {
			words = append(words, v.name)
		}
	case "rules":
		for _, r := range diagnose.Rules() {
			words = append(words, r.ID)
		}
	case "help":
		words = commandNames()
	case "recordings":
		words = []string{"label", "remove", "unlabel"}
	case "completion":
		words = []string{"bash", "fish", "zsh"}
	}
	return words
}

func bashCompletion(w io.Writer, all []completion) {
	var names []string
	for _, c := range all {
		names = append(names, c.name)
	}
	fmt.Fprintf(w, `_hone() {
    local cur=${COMP_WORDS[COMP_CWORD]} flags= words=
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W %q -- "$cur"))
        return
    fi
    case ${COMP_WORDS[1]} in
`, strings.Join(names, " "))
	for _, c := range all {
		fmt.Fprintf(w, "    %s)\n        flags=%q\n        words=\"%s\" ;;\n", c.name, strings.Join(c.flags, " "), shellWords(c))
	}
	fmt.Fprint(w, `    esac
    case $cur in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$cur")) ;;
    *) COMPREPLY=($(compgen -W "$words" -- "$cur") $(compgen -f -- "$cur")) ;;
    esac
}
complete -o filenames -F _hone hone
`)
}

// shellWords returns the words that can follow a command, for the scripts of bash and zsh.
func shellWords(c completion) string {
	words := strings.Join(c.words, " ")
	if c.recordings {
		words = strings.TrimSpace(words + " $(" + listRecordings + ")")
	}
	return words
}

// listRecordings is the command with which the scripts list the recordings.
const listRecordings = "hone completion recordings 2>/dev/null"

func zshCompletion(w io.Writer, all []completion) {
	fmt.Fprint(w, "#compdef hone\n_hone() {\n    local -a commands flags words_\n    commands=(\n")
	for _, c := range all {
		fmt.Fprintf(w, "        '%s:%s'\n", c.name, strings.ReplaceAll(c.short, "'", ""))
	}
	fmt.Fprint(w, "    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi\n    case $words[2] in\n")
	for _, c := range all {
		fmt.Fprintf(w, "    %s) flags=(%s); words_=(%s) ;;\n", c.name, strings.Join(c.flags, " "), shellWords(c))
	}
	fmt.Fprint(w, "    esac\n    if [[ $PREFIX == -* ]]; then compadd -- $flags; else compadd -- $words_; _files; fi\n}\n_hone \"$@\"\n")
}

func fishCompletion(w io.Writer, all []completion) {
	for _, c := range all {
		fmt.Fprintf(w, "complete -c hone -n __fish_use_subcommand -a %s -d '%s'\n", c.name, strings.ReplaceAll(c.short, "'", ""))
		words := strings.Join(c.words, " ")
		if c.recordings {
			words = strings.TrimSpace(words + " (" + listRecordings + ")")
		}
		if words != "" {
			fmt.Fprintf(w, "complete -c hone -n '__fish_seen_subcommand_from %s' -a '%s'\n", c.name, words)
		}
		for _, f := range c.flags {
			fmt.Fprintf(w, "complete -c hone -n '__fish_seen_subcommand_from %s' -o %s\n", c.name, strings.TrimPrefix(f, "-"))
		}
	}
}
