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
		short: "machine code of the matching functions with what each instruction costs",
		long: sourceHelp + `

REGEXP may be an address, too. The code is read from the program that the profile names, or the
one given with -binary; it must be the very build that ran. The program of a recording that hone
built is built again. Behind an instruction stands the line that it comes from; where calls were
inlined, the innermost comes first, and behind < where it was called. Below instructions that cost
something stands what the compiler decided there, as in hone list.`,
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
			fs.StringVar(&o.Binary, "binary", "", "the program that ran, `FILE`, where it is not at the place that the profile names")
			fs.BoolVar(&intel, "intel_syntax", false, "write instructions as Intel does, not as Go's assembler")
			remarks := fs.Bool("remarks", true, "say what the compiler decided where it costs; see hone help list")
			return func(ctx context.Context, env Env, args, _ []string) error {
				if len(args) == 0 {
					return usagef("disasm: which functions? name a regular expression, e.g. hone disasm 'main\\.' rec.hone")
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
