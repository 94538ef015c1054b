package cli

import (
	"context"
	"flag"
	"io"

	"github.com/hone-go/hone/internal/render/flame"
)

func flameCommand() command {
	return command{
		name: "flame", args: "[SOURCE...] [-o FILE.html|FILE.svg]", group: "profiles",
		short: "flame graph as one HTML file that works offline, or as SVG",
		long: sourceHelp + `
The page has search, zoom, the inverted view and the sandwich view of a function; press ? for the keys. It is small
for a profile of any size, because it contains only boxes that a screen can show; it says what was left out.`,
		examples: []string{
			"hone flame cpu.pprof -o cpu.html",
			"hone flame -sample_index=alloc_space rec.hone -o allocs.svg",
			"hone flame -focus 'json\\.' -json rec.hone",
			"hone flame -direction callers cpu.pprof -o callers.svg",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var f fileFlags
			var format string
			var direction string
			f.declare(fs)
			fs.StringVar(&direction, "direction", "", "`DIRECTION` callees, callers (inverted) or both (default both in a page, else callees); one takes half of the time and of the page")
			fs.StringVar(&format, "format", "", "`FORMAT` html or svg (default: by the file's ending, else html)")
			return func(ctx context.Context, env Env, args, _ []string) error {
				draw, isHTML, err := flameFormat(format, f.file())
				if err != nil {
					return err
				}
				d, err := flameDirection(direction, isHTML && !f.json)
				if err != nil {
					return err
				}
				f.shape.KeepStacks = true
				v, err := f.view(ctx, env, args)
				if err != nil {
					return err
				}
				g, err := flame.New(v.Source.Name, v.View, d)
				if err != nil {
					return err
				}
				if f.json {
					return f.writeJSON(env, flame.JSON(g))
				}
				return f.write(env, true, func(w io.Writer) error { return draw(w, g) })
			}
		},
	}
}

// flameFormat chooses by the format's name, or by the file's extension.
func flameFormat(format, out string) (draw func(io.Writer, *flame.Graph) error, isHTML bool, err error) {
	format, err = fileFormat(format, out, "html", "svg", "htm")
	if err != nil {
		return nil, false, err
	}
	if format == "svg" {
		return flame.SVG, false, nil
	}
	return flame.HTML, true, nil
}

// flameDirection returns the direction with a name. Only pages can have both.
func flameDirection(name string, page bool) (flame.Direction, error) {
	switch {
	case name == "callers":
		return flame.Callers, nil
	case name == "callees" || name == "" && !page:
		return flame.Callees, nil
	case name == "" || name == "both" && page:
		return flame.Both, nil
	case name == "both":
		return 0, usagef("-direction both is only for pages; SVG and JSON have one graph: callees or callers")
	}
	return 0, usagef("-direction: no %q; there are callees, callers and both", name)
}
