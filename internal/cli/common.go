package cli

import (
	"context"
	"flag"
)

// common are the flags that every command has.
type common struct {
	out     string // write there instead of to standard output
	ownOut  bool   // the command has an -o of its own, which gets the name
	memory  memoryFlag
	command runFunc
}

// declare declares the flags of the command, and those that every command has, on fs.
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

// run runs the command within its memory, with its output where -o says.
func (k *common) run(ctx context.Context, env Env, args, rest []string) error {
	ctx, done := k.memory.bound(ctx, env)
	err := redirect(env, k.out, func(env Env) error { return k.command(ctx, env, args, rest) })
	if exceeded := done(); exceeded != nil {
		return exceeded
	}
	return err
}
