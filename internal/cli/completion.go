package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
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
					return usagef("completion: name a shell: bash, zsh or fish")
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

// completion is what a shell needs to know of one command.
type completion struct {
	name, short string
	flags       []string
}

func completions() []completion {
	var all []completion
	for _, c := range commands() {
		fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.setup(fs)
		entry := completion{name: c.name, short: c.short}
		fs.VisitAll(func(f *flag.Flag) { entry.flags = append(entry.flags, "-"+f.Name) })
		all = append(all, entry)
	}
	return all
}

func bashCompletion(w io.Writer, all []completion) {
	var names []string
	for _, c := range all {
		names = append(names, c.name)
	}
	fmt.Fprintf(w, `_hone() {
    local cur=${COMP_WORDS[COMP_CWORD]} flags=
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W %q -- "$cur"))
        return
    fi
    case ${COMP_WORDS[1]} in
`, strings.Join(names, " "))
	for _, c := range all {
		fmt.Fprintf(w, "    %s) flags=%q ;;\n", c.name, strings.Join(c.flags, " "))
	}
	fmt.Fprint(w, `    esac
    case $cur in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$cur")) ;;
    *) COMPREPLY=($(compgen -f -- "$cur")) ;;
    esac
}
complete -o filenames -F _hone hone
`)
}

func zshCompletion(w io.Writer, all []completion) {
	fmt.Fprint(w, "#compdef hone\n_hone() {\n    local -a commands flags\n    commands=(\n")
	for _, c := range all {
		fmt.Fprintf(w, "        '%s:%s'\n", c.name, strings.ReplaceAll(c.short, "'", ""))
	}
	fmt.Fprint(w, "    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi\n    case $words[2] in\n")
	for _, c := range all {
		fmt.Fprintf(w, "    %s) flags=(%s) ;;\n", c.name, strings.Join(c.flags, " "))
	}
	fmt.Fprint(w, "    esac\n    if [[ $PREFIX == -* ]]; then compadd -- $flags; else _files; fi\n}\n_hone \"$@\"\n")
}

func fishCompletion(w io.Writer, all []completion) {
	for _, c := range all {
		fmt.Fprintf(w, "complete -c hone -n __fish_use_subcommand -a %s -d '%s'\n", c.name, strings.ReplaceAll(c.short, "'", ""))
		for _, f := range c.flags {
			fmt.Fprintf(w, "complete -c hone -n '__fish_seen_subcommand_from %s' -o %s\n", c.name, strings.TrimPrefix(f, "-"))
		}
	}
}
