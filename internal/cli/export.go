package cli

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/profile/report"
)

// fileFlags are the flags of commands that write a file for other programs.
type fileFlags struct {
	profileFlags
	out string
}

func (f *fileFlags) declare(fs *flag.FlagSet) {
	f.profileFlags.declare(fs, "")
	fs.StringVar(&f.out, "o", "", "write to `FILE` (default, or -: standard output)")
}

// write writes to the file, or to standard output. It refuses to write binary data to a terminal,
// and never holds the whole output in memory.
func (f *fileFlags) write(env Env, binary bool, draw func(io.Writer) error) error {
	if f.out == "" && binary && env.StdoutTerminal {
		return usagef("the output is binary: write it to a file with -o FILE, or redirect it with > or |")
	}
	if f.out == "" || f.out == "-" {
		return streamed(env.data(), draw)
	}
	path := absolute(env.Dir, f.out)
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := streamed(file, draw); err != nil {
		file.Close()
		return err
	}
	info, err := file.Stat()
	if err == nil && !f.quiet {
		env.say("wrote %s (%d kB)", path, (info.Size()+999)/1000)
	}
	return file.Close()
}

// writeJSON writes what -json prints.
func (f *fileFlags) writeJSON(env Env, v any) error {
	return f.write(env, false, func(w io.Writer) error { return render.JSON(w, v) })
}

// file returns the name of the file to write, or "" if the name does not tell the format.
func (f *fileFlags) file() string {
	if info, err := os.Stat(f.out); f.json || f.out == "-" || err == nil && !info.Mode().IsRegular() {
		return ""
	}
	return f.out
}

// fileFormat returns the named format or, without a name, the one that the file's extension stands
// for, or the first one. alias is another extension of the first or second format.
func fileFormat(name, file, first, second, alias string) (string, error) {
	ending := strings.ToLower(strings.TrimPrefix(filepath.Ext(file), "."))
	switch {
	case name == first, name == second:
		return name, nil
	case name != "":
		return "", usagef("-format: no %q; there are %s and %s", name, first, second)
	case file == "" || ending == first:
		return first, nil
	case ending == second:
		return second, nil
	case ending == alias:
		if strings.HasPrefix(first, alias) {
			return first, nil
		}
		return second, nil
	}
	return "", usagef("-o %s: its extension is not a known format; use .%s or .%s, or -format %s", file, first, second, first)
}

// streamed writes output in large blocks.
func streamed(w io.Writer, draw func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 64<<10)
	if err := draw(b); err != nil {
		return err
	}
	return b.Flush()
}

// exportCommand returns a command that writes a view in another format; asJSON writes the same
// numbers with -json.
func exportCommand(c command, binary bool, write, asJSON func(v *view, w io.Writer) error) command {
	c.args, c.group = "[SOURCE...]", "profiles"
	c.long = sourceHelp + "\n" + c.long
	c.setup = func(fs *flag.FlagSet) runFunc {
		var f fileFlags
		f.declare(fs)
		return func(ctx context.Context, env Env, args, _ []string) error {
			v, err := f.view(ctx, env, args)
			if err != nil {
				return err
			}
			if f.json {
				return f.write(env, false, func(w io.Writer) error { return asJSON(v, w) })
			}
			return f.write(env, binary, func(w io.Writer) error { return write(v, w) })
		}
	}
	return c
}

func callgrindCommand() command {
	return exportCommand(command{
		name: "callgrind", short: "write the call graph for KCachegrind",
		long:     "The file has every address, line and call; KCachegrind and QCachegrind open it.",
		examples: []string{"hone callgrind -o callgrind.out cpu.pprof", "hone callgrind rec.hone:heap > callgrind.out"},
	}, false, func(v *view, w io.Writer) error {
		g, err := v.Graph(report.GraphOptions{Addresses: true, CallTree: true})
		if err != nil {
			return err
		}
		return g.WriteCallgrind(w, v.View)
	}, func(v *view, w io.Writer) error {
		g, err := v.Graph(report.GraphOptions{Addresses: true, CallTree: true})
		if err != nil {
			return err
		}
		return render.JSON(w, render.GraphJSON("graph", v.graphPage(g)))
	})
}

func protoCommand() command {
	return exportCommand(command{
		name: "proto", short: "write the profile as pprof, merged and filtered",
		long:     "Several sources are summed. Any pprof viewer reads the result.",
		examples: []string{"hone proto -o all.pprof monday.pprof tuesday.pprof", "hone proto -focus 'main\\.' -o main.pprof rec.hone"},
	}, true, func(v *view, w io.Writer) error {
		return v.Divided().Encode(w)
	}, func(v *view, w io.Writer) error {
		return render.RawJSON(w, render.SamplesPage{Source: v.Source.Name, View: v.View})
	})
}

func topprotoCommand() command {
	return exportCommand(command{
		name: "topproto", short: "write the table of `hone top` as pprof",
		long:     "The file has a sample for each row, with the values cum and flat.",
		examples: []string{"hone topproto -o top.pprof cpu.pprof"},
	}, true, func(v *view, w io.Writer) error {
		top, err := v.wholeTop()
		if err != nil {
			return err
		}
		p, err := top.Profile(v.Profile)
		if err != nil {
			return fmt.Errorf("topproto: %w", err)
		}
		return p.Encode(w)
	}, func(v *view, w io.Writer) error {
		top, err := v.wholeTop()
		if err != nil {
			return err
		}
		return render.JSON(w, render.TopJSON(render.TopTable{Source: v.Source.Name, View: v.View, Top: top, Blind: v.blindSpots(top.Smallest()), Notes: v.Source.Notes}))
	})
}

// wholeTop returns the table of top with all of its rows.
func (v *view) wholeTop() (*report.Table, error) {
	o := v.TopOptions(0)
	o.Inline = false
	return report.Top(v.Profile, o)
}
