package lastusedperrequest

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// always reports whether about each request writes, or each that the handler in a stack gets; the
// stack starts at the write.
func (w *write) always(p *rule.Pass, stack []*site.Frame) bool {
	if p.Manifest.Unit() == "run" {
		return w.runs >= leastRuns
	}
	if w.runs >= leastPerRequest {
		return true
	}
	for i, f := range stack {
		if f.Owner.Kind != gocode.Main {
			continue
		}
		place, ok := p.Syntax.At(f.File, f.Line)
		if !ok || !takesRequest(place) || named(p, place, stack[i+1:]) {
			continue
		}
		gets, ok := calls(p, place)
		if !ok || gets <= 0 || w.runs < leastPerRequest*gets {
			return false
		}
		w.handler = syntax.FuncName(place)
		return true
	}
	return false
}

// takesRequest reports whether the function around a place gets a request, as handlers do.
func takesRequest(p *gocode.Place) bool {
	sig := syntax.SignatureOf(p)
	if sig == nil {
		return false
	}
	for v := range sig.Params().Variables() {
		if t := types.TypeString(types.Unalias(v.Type()), nil); slices.ContainsFunc([]string{
			"*net/http.Request", "/gin.Context", "/echo.Context", "/echo/v4.Context", "/fiber.Ctx", "/fiber/v2.Ctx", "/fasthttp.RequestCtx",
		}, func(s string) bool { return strings.HasSuffix(t, s) }) {
			return true
		}
	}
	return false
}

// named reports whether the line above a function calls it by its name: a helper that gets the
// request may be called for few of them.
func named(p *rule.Pass, place *gocode.Place, above []*site.Frame) bool {
	if len(above) == 0 {
		return false
	}
	caller, ok := p.Syntax.At(above[0].File, above[0].Line)
	return ok && flow.CallAbove(place, caller) != nil
}

// calls returns how often the function around a place is called, for each unit of work.
func calls(p *rule.Pass, place *gocode.Place) (float64, bool) {
	body := place.Decl.Body
	if lit, ok := place.Func.(*ast.FuncLit); ok {
		body = lit.Body
	}
	return evidence.ReachedAt(p, place, body.Lbrace+1)
}
