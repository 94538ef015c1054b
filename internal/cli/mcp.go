package cli

import (
	"context"
	"errors"
	"flag"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hone-go/hone/internal/assistant"
)

func mcpCommand() command {
	return command{
		name: "mcp", args: "[DIR...]", group: "the main job",
		short: "hone's commands for coding assistants: a Model Context Protocol server on stdio",
		long: `Serves findings, why, top, list, peek, trace, compare, diff, rules and the list of recordings to a coding assistant, which starts
this command and communicates with it on standard input and output. An answer is the output of the command of that name, with the command
line, so that it can be checked.

It reads recordings in hone's cache and files below DIR (default: the working directory). With -allow_run there is also a tool
that builds and runs a package below DIR, for two minutes at most, with load for loopback only: building and running a package
runs its code.`,
		examples: []string{
			"hone mcp",
			"hone mcp -allow_run ~/src/service",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var out outputFlags
			allow := false
			out.declare(fs, "")
			fs.BoolVar(&allow, "allow_run", false, "let the assistant build and run packages below DIR")
			return func(ctx context.Context, env Env, args, _ []string) error {
				if out.json {
					return usagef("mcp: a server has no -json output")
				}
				cfg, _, err := out.session(env)
				if err != nil {
					return err
				}
				if len(args) == 0 {
					args = []string{env.Dir}
				}
				dirs, err := shelvesOf(env.Dir, args)
				if err != nil {
					return err
				}
				backend := &uiBackend{env: env, kept: &keptSources{ctx: ctx}}
				server := assistant.New(assistant.Options{
					Version: env.Version, Run: backend.Run, Dirs: dirs, Allow: allow,
					Known: func(name string) bool { _, ok := cfg.Shelf().Find(name); return ok },
				})
				err = server.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(env.Stdin), Writer: nopCloser{env.data()}})
				if errors.Is(err, io.EOF) || ctx.Err() != nil {
					return nil // the assistant has disconnected
				}
				return err
			}
		},
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
