package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/internal/render/flame"
)

func flameCommand() command {
	return command{
		name: "flame", args: "[SOURCE...] [-o FILE.html|FILE.svg]", group: "profiles",
		short: "flame graph as one HTML file that works offline, or as SVG",
		long: sourceHelp + `
The page has search, zoom, the inverted view and the sandwich of a function; press ? in it for the keys. It is small
whatever the profile's size, because only boxes that a screen can show are in it; what is left out is told.`,
		examples: []string{
			"hone flame cpu.pprof -o cpu.html",
			"hone flame -sample_index=alloc_space rec.hone -o allocs.svg",
			"hone flame -focus 'json\\.' -json rec.hone",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var p profileFlags
			var out, format string
			p.declare(fs, "")
			fs.StringVar(&out, "o", "", "write to `FILE` (default flame.html; - for standard output)")
			fs.StringVar(&format, "format", "", "`FORMAT` html or svg (default: by the file's ending)")
			return func(ctx context.Context, env Env, args, _ []string) error {
				draw, out, err := flameFormat(format, out)
				if err != nil {
					return err
				}
				v, err := p.view(ctx, env, args)
				if err != nil {
					return err
				}
				g, err := flame.New(v.Source.Name, v.View)
				if err != nil {
					return err
				}
				if p.json {
					return render.JSON(env.Stdout, flame.JSON(g))
				}
				return writeOut(env, out, func(w io.Writer) error { return draw(w, g) })
			}
		},
	}
}

// flameFormat chooses by the format's name, else by the ending of the file.
func flameFormat(format, out string) (func(io.Writer, *flame.Graph) error, string, error) {
	ending := strings.ToLower(strings.TrimPrefix(filepath.Ext(out), "."))
	if format == "" {
		format = "html"
		if ending == "svg" {
			format = "svg"
		}
	}
	if out == "" {
		out = "flame." + format
	}
	switch format {
	case "html":
		return flame.HTML, out, nil
	case "svg":
		return flame.SVG, out, nil
	}
	return nil, "", usagef("-format: no %q; there are html and svg", format)
}

// writeOut writes a whole file, or to standard output when the name is "-", and
// says on stderr where the file is.
func writeOut(env Env, name string, draw func(io.Writer) error) error {
	if name == "-" {
		return buffered(env.Stdout, draw)
	}
	var b bytes.Buffer
	if err := draw(&b); err != nil {
		return err
	}
	path := absolute(env.Dir, name)
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "wrote %s (%d kB)\n", path, (b.Len()+999)/1000)
	return nil
}
