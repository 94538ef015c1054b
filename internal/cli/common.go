package cli

import (
	"context"
	"flag"
)

// common are the flags that every command has.
type common struct {
	out     string // write to this file instead of standard output
	ownOut  bool   // the command has its own flag -o
	memory  memoryFlag
	command runFunc
}

// declare declares on fs the flags of the command, and those that every command has.
func (c command) declare(fs *flag.FlagSet) *common {
	k := &common{command: c.setup(fs)}
	if k.ownOut = fs.Lookup("o") != nil; !k.ownOut {
		fs.StringVar(&k.out, "o", "", "write to `FILE` instead of standard output")
	}
	if fs.Lookup("output") == nil {
		fs.Func("output", "same as -o `FILE`", func(name string) error { return fs.Set("o", name) })
	}
	fs.Var(&k.memory, "max_memory", "maximum memory of hone itself, `SIZE` like 2GiB (default: half of the machine's; 0: no limit)")
	return k
}

// run runs the command within its memory limit, with output to the file of -o.
func (k *common) run(ctx context.Context, env Env, args, rest []string) error {
	ctx, done := k.memory.bound(ctx, env)
	err := redirect(env, k.out, func(env Env) error { return k.command(ctx, env, args, rest) })
	if exceeded := done(); exceeded != nil {
		return exceeded
	}
	return err
}
