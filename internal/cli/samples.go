package cli

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/hone-go/hone/internal/render"
)

// samplesReport is a report on single samples.
type samplesReport struct {
	text func(w io.Writer, page render.SamplesPage, s render.Style) error
	json func(w io.Writer, page render.SamplesPage) error
}

// command completes a command that prints the report.
func (r samplesReport) command(c command) command {
	c.args, c.group = "[SOURCE...]", "profiles"
	c.long = sourceHelp + c.long
	c.setup = func(fs *flag.FlagSet) runFunc {
		var p profileFlags
		p.declare(fs, "")
		return func(ctx context.Context, env Env, args, _ []string) error {
			v, err := p.view(ctx, env, args)
			if err != nil {
				return err
			}
			page := render.SamplesPage{Source: v.Source.Name, View: v.View}
			// These pages can be long, so they are written while they are computed.
			return streamed(env.Stdout, func(w io.Writer) error {
				if p.json {
					return r.json(w, page)
				}
				return r.text(w, page, p.style(env))
			})
		}
	}
	return c
}

func tracesCommand() command {
	return samplesReport{
		text: func(w io.Writer, page render.SamplesPage, s render.Style) error {
			render.Traces(w, page, s)
			return nil
		},
		json: render.TracesJSON,
	}.command(command{
		name: "traces", short: "every sample with its labels and its whole stack",
		examples: []string{"hone traces cpu.pprof", "hone traces -lines -focus 'json\\.' rec.hone"},
	})
}

func tagsCommand() command {
	return samplesReport{
		text: func(w io.Writer, page render.SamplesPage, _ render.Style) error {
			tags := page.View.Tags()
			if len(tags) == 0 {
				return fmt.Errorf("%s: no sample has a label; pprof.Do(ctx, pprof.Labels(\"route\", r), f) sets them", page.Source)
			}
			render.Tags(w, page, tags)
			return nil
		},
		json: func(w io.Writer, page render.SamplesPage) error {
			return render.JSON(w, render.TagsJSON(page, page.View.Tags()))
		},
	}.command(command{
		name: "tags", short: "labels of the samples, and the cost of each of their values",
		examples: []string{"hone tags cpu.pprof", "hone tags -sample_index=alloc_space rec.hone"},
	})
}

func rawCommand() command {
	return samplesReport{
		text: func(w io.Writer, page render.SamplesPage, _ render.Style) error {
			render.Raw(w, page.View.Profile)
			return nil
		},
		json: render.RawJSON,
	}.command(command{
		name: "raw", short: "everything in a profile, as text",
		long:     "\nLocations, functions and mappings are numbered from 1 in the file's order.",
		examples: []string{"hone raw heap.pprof", "hone raw -json rec.hone:cpu"},
	})
}

func commentsCommand() command {
	return samplesReport{
		text: func(w io.Writer, page render.SamplesPage, _ render.Style) error {
			for _, c := range page.View.Profile.Comments {
				fmt.Fprintln(w, indented(c))
			}
			return nil
		},
		json: func(w io.Writer, page render.SamplesPage) error { return render.JSON(w, render.CommentsJSON(page)) },
	}.command(command{
		name: "comments", short: "the comments in a profile",
		examples: []string{"hone comments cpu.pprof"},
	})
}
