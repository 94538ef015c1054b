package cli

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/profile"
)

// samplesReport is one of the reports that show samples as they are.
type samplesReport struct {
	text func(w io.Writer, page render.SamplesPage, o profile.TopOptions, s render.Style) error
	json func(page render.SamplesPage, o profile.TopOptions) (any, error)
}

// command adds the report as a command: open the sources, print.
func (r samplesReport) command(c command) command {
	c.args, c.group = "[SOURCE...]", "profiles"
	c.long = sourceHelp + c.long
	c.setup = func(fs *flag.FlagSet) runFunc {
		var p profileFlags
		p.declare(fs, "")
		return func(ctx context.Context, env Env, args, _ []string) error {
			filter, err := p.filter()
			if err != nil {
				return err
			}
			src, index, err := p.open(ctx, env, args)
			if err != nil {
				return err
			}
			page := render.SamplesPage{Source: src.Name, Profile: src.Profile, Index: index}
			o := profile.TopOptions{SampleIndex: index, Filter: filter}
			if p.json {
				v, err := r.json(page, o)
				if err != nil {
					return err
				}
				return render.JSON(env.Stdout, v)
			}
			// These pages can be long: they are written while they are made.
			w := bufio.NewWriterSize(env.Stdout, 64<<10)
			if err := r.text(w, page, o, p.style(env)); err != nil {
				return err
			}
			return w.Flush()
		}
	}
	return c
}

func tracesCommand() command {
	return samplesReport{
		text: func(w io.Writer, page render.SamplesPage, o profile.TopOptions, s render.Style) error {
			view, traces, err := page.Profile.Traces(o)
			if err == nil {
				render.Traces(w, page, view, traces, s)
			}
			return err
		},
		json: func(page render.SamplesPage, o profile.TopOptions) (any, error) {
			view, traces, err := page.Profile.Traces(o)
			if err != nil {
				return nil, err
			}
			return render.TracesJSON(page, view, traces), nil
		},
	}.command(command{
		name: "traces", short: "every sample with its labels and its whole stack",
		examples: []string{"hone traces cpu.pprof", "hone traces -focus 'json\\.' rec.hone | less"},
	})
}

func tagsCommand() command {
	return samplesReport{
		text: func(w io.Writer, page render.SamplesPage, o profile.TopOptions, _ render.Style) error {
			tags, err := page.Profile.Tags(o, "auto")
			if err == nil && len(tags) == 0 {
				return fmt.Errorf("%s: no sample has a label; pprof.Do(ctx, pprof.Labels(\"route\", r), f) sets them", page.Source)
			}
			if err == nil {
				render.Tags(w, page, tags)
			}
			return err
		},
		json: func(page render.SamplesPage, o profile.TopOptions) (any, error) {
			tags, err := page.Profile.Tags(o, "auto")
			return render.TagsJSON(page, tags), err
		},
	}.command(command{
		name: "tags", short: "labels of the samples and what each of their values costs",
		examples: []string{"hone tags cpu.pprof", "hone tags -sample_index=alloc_space rec.hone"},
	})
}

func rawCommand() command {
	return samplesReport{
		text: func(w io.Writer, page render.SamplesPage, o profile.TopOptions, _ render.Style) error {
			render.Raw(w, page.Profile.Filter(o.Filter))
			return nil
		},
		json: func(page render.SamplesPage, o profile.TopOptions) (any, error) {
			page.Profile = page.Profile.Filter(o.Filter)
			return render.RawJSON(page), nil
		},
	}.command(command{
		name: "raw", short: "everything that a profile holds, as text",
		long:     "\nLocations, functions and mappings are numbered from 1 in the file's order.",
		examples: []string{"hone raw heap.pprof", "hone raw -json rec.hone:cpu"},
	})
}

func commentsCommand() command {
	return samplesReport{
		text: func(w io.Writer, page render.SamplesPage, _ profile.TopOptions, _ render.Style) error {
			for _, c := range page.Profile.Comments {
				fmt.Fprintln(w, c)
			}
			return nil
		},
		json: func(page render.SamplesPage, _ profile.TopOptions) (any, error) {
			return render.CommentsJSON(page), nil
		},
	}.command(command{
		name: "comments", short: "the comments that a profile carries",
		examples: []string{"hone comments cpu.pprof"},
	})
}
