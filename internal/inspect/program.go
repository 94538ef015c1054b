package inspect

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hone-go/hone/internal/disasm"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/source"
	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/profile"
)

// openProgram finds the file of a mapping, checks that it is the one that ran, and computes its
// load address. The file is the one that the user gave, else the one that the profile names. The
// program of a recording, which hone built and removed, is built again.
func openProgram(ctx context.Context, open source.Opener, src *source.Source, mapping int32, given string) (*program, error) {
	p := src.Profile
	var m profile.Mapping
	if mapping >= 0 {
		m = p.Mappings[mapping]
	}
	if given != "" && !standsFor(p, mapping, given) {
		given = ""
	}
	g := &program{mapping: mapping, name: given}
	if g.name == "" {
		g.name = m.File
	}
	if g.name == "" {
		return nil, fmt.Errorf("%s does not name the program; give it with -binary FILE", src.Name)
	}
	var err error
	if g.Binary, err = disasm.Open(g.name); err != nil {
		if given != "" {
			return nil, fmt.Errorf("-binary: %w", err)
		}
		if err := g.buildAgain(ctx, open, src, err); err != nil {
			return nil, err
		}
	}
	if err := g.locate(p, m); err != nil {
		g.close()
		return nil, fmt.Errorf("%s: %w", src.Name, err)
	}
	return g, nil
}

// standsFor reports whether a binary that the user gave is that of a mapping: the mapping with its
// name, else the first, which is the program itself.
func standsFor(p *profile.Profile, mapping int32, binary string) bool {
	if mapping < 0 {
		return true
	}
	base := filepath.Base(binary)
	named := slices.IndexFunc(p.Mappings, func(m profile.Mapping) bool { return filepath.Base(m.File) == base })
	return int(mapping) == max(0, named)
}

// buildAgain builds the program of a recording. Go builds are reproducible, so the same source
// gives the same program; locate checks it. missing says why the profile's own file cannot be read.
func (g *program) buildAgain(ctx context.Context, open source.Opener, src *source.Source, missing error) error {
	if src.Recording == nil || !src.Recording.Target.Probe {
		return fmt.Errorf("%s: the program that was profiled cannot be read (%w); give it with -binary FILE", src.Name, missing)
	}
	t := src.Recording.Target
	open.Say("build", "building "+t.ImportPath+" again, for its code")
	flags, refused := gocode.HarmlessFlags(t.BuildFlags)
	if len(refused) > 0 {
		open.Say("build", gocode.RefusedFlags(refused))
	}
	bin, err := target.Build(ctx, target.BuildSpec{
		Package: ".", Dir: t.Dir, Bench: t.Bench != "", BuildFlags: flags, WorkDir: filepath.Join(open.CacheDir, "work"),
	})
	if err != nil {
		return fmt.Errorf("%s: the program that was recorded is gone, and cannot be built again: %w", src.Name, err)
	}
	g.name, g.remove, g.rebuilt = t.ImportPath+", built again", bin.Remove, true
	if g.Binary, err = disasm.Open(bin.Path); err != nil {
		bin.Remove() //nolint:errcheck // the previous error is the one to report
		return fmt.Errorf("%s: %w", src.Name, err)
	}
	return nil
}

// sameProgram is the share of a profile's addresses that must be in the functions that the profile
// names; with less, it is another build. It is not all of them, because a symbol of C code may have
// several names.
const sameProgram = 0.9

// locate computes the bias and checks that the file is the one that was profiled: by build ID, and
// by the functions at the profile's addresses.
func (g *program) locate(p *profile.Profile, m profile.Mapping) error {
	if m.BuildID != "" && g.BuildID != "" && m.BuildID != g.BuildID {
		return g.another(fmt.Sprintf("its build id is %.12s…, not %.12s…", g.BuildID, m.BuildID))
	}
	var err error
	if g.bias, err = g.Bias(m.Start, m.Limit, m.Offset); err != nil {
		return err
	}
	same, all := 0, 0
	for i := range p.Locations {
		l := &p.Locations[i]
		at, ok := g.at(l)
		if !ok || len(l.Lines) == 0 {
			continue
		}
		all++
		if f, ok := g.FuncAt(at); ok && f.Name == p.Functions[l.Lines[len(l.Lines)-1].Func].Name {
			same++
		}
	}
	if float64(same) < sameProgram*float64(all) {
		return g.another(fmt.Sprintf("only %d of %d addresses lie in the functions that the profile names", same, all))
	}
	return nil
}

// another returns the error for a program that is not the one that ran.
func (g *program) another(why string) error {
	if g.rebuilt {
		return fmt.Errorf("%s, is not the program that was recorded (%s): its source, the toolchain or the flags have changed since; record again", g.name, why)
	}
	return fmt.Errorf("%s is not the program that was profiled (%s); give the one that ran with -binary FILE", g.name, why)
}
