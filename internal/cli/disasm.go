package cli

import (
	"bufio"
	"context"
	"flag"
	"regexp"

	"github.com/hone-go/hone/internal/disasm"
	"github.com/hone-go/hone/internal/inspect"
	"github.com/hone-go/hone/internal/render"
)

func disasmCommand() command {
	return command{
		name: "disasm", args: "REGEXP [SOURCE...]", group: "profiles",
		short: "machine code of the matching functions with the cost of each instruction",
		long: sourceHelp + `

REGEXP may also be an address. The code is read from the program that the profile names, or the
one given with -binary; it must be the same build that ran. If hone built the program of a
recording, it is built again. After an instruction comes its source line; if calls were
inlined, the innermost line comes first, and after < the line that called it. Below expensive
instructions, hone prints the compiler's decisions, as in hone list.`,
		examples: []string{
			"hone disasm 'main\\.leftpad$' rec.hone",
			"hone disasm -intel_syntax 'bytes.*IndexByte' cpu.pprof",
			"hone disasm -binary ./server 0x4a21c0 http://127.0.0.1:6060",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var p profileFlags
			var o inspect.DisasmOptions
			var intel bool
			p.declare(fs, "")
			fs.StringVar(&o.Binary, "binary", "", "the program that ran, `FILE`, if it is not at the path in the profile")
			fs.BoolVar(&intel, "intel_syntax", false, "write instructions as Intel does, not as Go's assembler")
			remarks := fs.Bool("remarks", true, "print the compiler's decisions below expensive instructions; see hone help list")
			return func(ctx context.Context, env Env, args, _ []string) error {
				if len(args) == 0 {
					return usagef("disasm: give a regular expression for functions, e.g. hone disasm 'main\\.' rec.hone")
				}
				re, err := regexp.Compile(args[0])
				if err != nil {
					return usagef("disasm: %v", err)
				}
				v, err := p.view(ctx, env, args[1:])
				if err != nil {
					return err
				}
				if o.Binary == "" {
					o.Binary = v.Binary
				}
				if intel {
					o.Syntax = disasm.IntelSyntax
				}
				cfg, prog, err := p.session(env)
				if err != nil {
					return err
				}
				page, err := inspect.Disassemble(ctx, cfg.Opener(), v.Source, v.View, re, o)
				prog.clear()
				if err != nil {
					return err
				}
				if *remarks {
					if err := inspect.AddInstRemarks(ctx, v.Source, page, remarkOptions(fs)); err != nil {
						return err
					}
					v.prog.clear()
				}
				if p.json {
					return render.JSON(env.Stdout, render.DisasmJSON(v.Source.Name, page))
				}
				w := bufio.NewWriterSize(env.Stdout, 64<<10)
				render.Disasm(w, page, p.style(env))
				return w.Flush()
			}
		},
	}
}
