package cli

import (
	"context"
	"flag"
	"io"
	"regexp"

	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/internal/session"
	"github.com/hone-go/hone/profile"
)

const sourceHelp = `SOURCE is a pprof file, a recording (rec.hone, or rec.hone:heap for one of its parts), the
URL of a pprof endpoint, or - for standard input; without it, the last recording.`

// profileFlags are those of the commands that read profiles, with pprof's names.
type profileFlags struct {
	outputFlags
	sampleIndex string
	seconds     int
	focus       string
	ignore      string
	hide        string
	show        string
}

func (p *profileFlags) declare(fs *flag.FlagSet, topUsage string) {
	p.outputFlags.declare(fs, topUsage)
	fs.StringVar(&p.sampleIndex, "sample_index", "", "which value: `NAME` or number, e.g. alloc_space, inuse_space, delay")
	fs.IntVar(&p.seconds, "seconds", 30, "length of a CPU profile taken from a URL, `N`")
	fs.StringVar(&p.focus, "focus", "", "keep stacks with a frame that matches `REGEXP`")
	fs.StringVar(&p.ignore, "ignore", "", "drop stacks with a frame that matches `REGEXP`")
	fs.StringVar(&p.hide, "hide", "", "drop frames that match `REGEXP`")
	fs.StringVar(&p.show, "show", "", "drop frames that do not match `REGEXP`")
}

func (p *profileFlags) filter() (profile.Filter, error) {
	var f profile.Filter
	for _, x := range []struct {
		flag, text string
		to         **regexp.Regexp
	}{
		{"focus", p.focus, &f.Focus}, {"ignore", p.ignore, &f.Ignore},
		{"hide", p.hide, &f.Hide}, {"show", p.show, &f.Show},
	} {
		if x.text == "" {
			continue
		}
		re, err := regexp.Compile(x.text)
		if err != nil {
			return f, usagef("-%s: %v", x.flag, err)
		}
		*x.to = re
	}
	return f, nil
}

// options turns the flags into the options of a view.
func (p *profileFlags) options() (profile.ViewOptions, error) {
	o := profile.DefaultViewOptions()
	o.SampleIndex = p.sampleIndex
	var err error
	o.Filter, err = p.filter()
	return o, err
}

// open reads the sources and picks the value; for commands that have not moved to view.
func (p *profileFlags) open(ctx context.Context, env Env, args []string) (*session.Source, int, error) {
	v, err := p.view(ctx, env, args)
	if err != nil {
		return nil, 0, err
	}
	src := *v.Source
	src.Profile = v.Profile
	return &src, v.Index, nil
}

func topCommand() command {
	return command{
		name: "top", args: "[SOURCE...]", group: "profiles",
		short: "functions, files or lines by what they cost, flat and cumulative",
		long:  sourceHelp + "\nSeveral sources are summed.",
		examples: []string{
			"hone top cpu.pprof",
			"hone top -cum rec.hone",
			"hone top -sample_index=alloc_space rec.hone",
			"hone top -granularity=lines http://127.0.0.1:6060/debug/pprof/profile -seconds 5",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var p profileFlags
			var cum bool
			var granularity string
			p.declare(fs, "show `N` rows (default 20; -1: all)")
			fs.BoolVar(&cum, "cum", false, "sort by cumulative cost")
			fs.StringVar(&granularity, "granularity", "functions", "a row for each of: functions, filefunctions, files, lines")
			return func(ctx context.Context, env Env, args, _ []string) error {
				g, ok := map[string]profile.Granularity{
					"functions": profile.ByFunction, "filefunctions": profile.ByFileFunction,
					"files": profile.ByFile, "lines": profile.ByLine,
				}[granularity]
				if !ok {
					return usagef("-granularity: no %q; there are functions, filefunctions, files and lines", granularity)
				}
				v, err := p.view(ctx, env, args)
				if err != nil {
					return err
				}
				o := v.TopOptions(20)
				o.Granularity = g
				if cum {
					o.Order = profile.ByCum
				}
				switch {
				case p.top > 0:
					o.Limit = p.top
				case p.top < 0:
					o.Limit, o.MinShare = 0, 0
				}
				top, err := v.Profile.Top(o)
				if err != nil {
					return err
				}
				t := render.TopTable{Source: v.Source.Name, Profile: v.Profile, Top: top}
				if p.json {
					return render.JSON(env.Stdout, render.TopJSON(t))
				}
				return buffered(env.Stdout, func(w io.Writer) error {
					render.Top(w, t, p.style(env))
					return nil
				})
			}
		},
	}
}

func listCommand() command {
	return command{
		name: "list", args: "REGEXP [SOURCE...]", group: "profiles",
		short: "source lines of the matching functions with what each costs",
		long:  sourceHelp + "\nThe source is found by module: in your tree, the module cache, GOROOT or vendor.",
		examples: []string{
			"hone list 'main\\.leftpad' rec.hone",
			"hone list -sample_index=alloc_objects 'StatsD.*Send' rec.hone",
			"hone list Handler cpu.pprof",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var p profileFlags
			p.declare(fs, "")
			return func(ctx context.Context, env Env, args, _ []string) error {
				if len(args) == 0 {
					return usagef("list: which functions? name a regular expression, e.g. hone list 'main\\.' rec.hone")
				}
				re, err := regexp.Compile(args[0])
				if err != nil {
					return usagef("list: %v", err)
				}
				v, err := p.view(ctx, env, args[1:])
				if err != nil {
					return err
				}
				src := *v.Source
				src.Profile = v.Profile
				page, err := session.List(&src, re, v.Index, profile.Filter{})
				if err != nil {
					return err
				}
				page.Total = v.Total
				if p.json {
					return render.JSON(env.Stdout, render.ListJSON(page))
				}
				return buffered(env.Stdout, func(w io.Writer) error {
					render.List(w, page, p.style(env))
					return nil
				})
			}
		},
	}
}
