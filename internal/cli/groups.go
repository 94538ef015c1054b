package cli

import (
	"io"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/runtimework"
)

// printGroups is `hone top -groups`: the work of the runtime, and the user's lines that cause it.
func (p *profileFlags) printGroups(env Env, v *view) error {
	t := v.Profile.SampleTypes[v.Index]
	if t.Type != "cpu" && t.Type != "samples" {
		return usagef("top: -groups needs CPU time, and this is %s; give a CPU profile", t.Type)
	}
	code := v.Source.Code
	work, err := runtimework.Of(v.Profile, v.Index, func(f profile.Function) bool {
		owner := code.Owner(f.Name, f.Filename)
		return owner.Kind == gocode.Main || owner.Kind == gocode.Dependency
	})
	if err != nil {
		return err
	}
	page := render.WorkPage{Source: v.Source.Name, Work: work, Top: p.top, Names: v.Names, Short: func(f profile.Frame) string {
		switch owner := code.Owner(f.Name, f.File); {
		case owner.File == "":
			return f.File
		case owner.Kind == gocode.Dependency:
			return owner.Module + "@" + owner.Version + "/" + owner.File
		default:
			return owner.File
		}
	}}
	if p.json {
		return render.JSON(env.Stdout, render.WorkJSON(page))
	}
	return buffered(env.Stdout, func(w io.Writer) error {
		render.Work(w, page, p.style(env))
		return nil
	})
}
