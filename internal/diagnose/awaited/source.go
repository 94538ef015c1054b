package awaited

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// steps is how many functions above a waiting one are searched.
const steps = 5

// leading are functions that lead to functions which wait.
type leading struct {
	functions []*types.Func
	waiting   map[string][]name // by the type checker's name
}

func (l *leading) add(fn *types.Func, waiting []name) {
	full := gocode.FullName(fn)
	if l.waiting[full] == nil {
		l.functions = append(l.functions, fn)
	}
	for _, w := range waiting {
		if !slices.Contains(l.waiting[full], w) {
			l.waiting[full] = append(l.waiting[full], w)
		}
	}
}

// of returns the functions that wait below a call of fn.
func (l *leading) of(fn *types.Func) []name {
	if waiting := l.waiting[gocode.FullName(fn)]; waiting != nil {
		return waiting
	}
	for _, target := range l.functions {
		if Implements(target, fn) || queries(target, fn) {
			return l.waiting[gocode.FullName(target)]
		}
	}
	return nil
}

// bySource adds the calls that the source shows: the profiles of a program that mostly waits have
// few stacks.
func bySource(p *rule.Pass, functions map[name][]exectrace.Line, add func(*site.Frame) *reached) {
	level := leading{waiting: map[string][]name{}}
	for of, lines := range functions {
		if place, ok := p.Syntax.At(of.file, lines[0].Line); ok && place.Func == ast.Node(place.Decl) {
			if fn := declared(place); fn != nil {
				level.add(fn, []name{of})
			}
		}
	}
	for range steps {
		next := leading{waiting: map[string][]name{}}
		for _, place := range p.Syntax.Calls(func(fn *types.Func) bool { return level.of(fn) != nil }) {
			profile, file := syntax.ProfileName(place), place.Fset.Position(place.Nodes[0].Pos()).Filename
			f := &site.Frame{Function: profile, File: file, Line: place.Line, Owner: p.Code.Owner(profile, file)}
			in := declared(place)
			if in == nil || place.Func != ast.Node(place.Decl) || f.Owner.Kind != gocode.Main {
				continue // of a function literal, whose name is not known
			}
			for _, call := range syntax.Calls(place) {
				fn := place.Callee(call)
				if fn == nil {
					continue
				}
				for _, waiting := range level.of(fn) {
					add(f).add(f.Line, link{waiting: waiting, call: call})
					next.add(in, []name{waiting})
				}
			}
		}
		level = next
	}
}

// declared returns the function around a place; nil for none.
func declared(p *gocode.Place) *types.Func {
	if p.Decl == nil {
		return nil
	}
	fn, _ := p.Info.Defs[p.Decl.Name].(*types.Func)
	return fn
}

// Implements reports whether a method may be called through a method of an interface: its receiver
// has methods with all of the names.
func Implements(method, of *types.Func) bool {
	recv, through := method.Signature().Recv(), of.Signature().Recv()
	if recv == nil || through == nil || method.Name() != of.Name() {
		return false
	}
	i, ok := through.Type().Underlying().(*types.Interface)
	if !ok {
		return false
	}
	for m := range i.Methods() {
		if o, _, _ := types.LookupFieldOrMethod(recv.Type(), true, m.Pkg(), m.Name()); o == nil {
			return false
		}
	}
	return true
}

// queries reports whether a function of database/sql queries through a method of a driver that the
// program has itself.
func queries(method, fn *types.Func) bool {
	recv := method.Signature().Recv()
	if recv == nil || fn.Pkg() == nil || fn.Pkg().Path() != "database/sql" || !strings.HasPrefix(method.Name(), "Query") || !strings.HasPrefix(fn.Name(), "Query") {
		return false
	}
	o, _, _ := types.LookupFieldOrMethod(recv.Type(), true, nil, "Begin")
	return o != nil
}
