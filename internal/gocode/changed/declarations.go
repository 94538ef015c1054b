package changed

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
)

// uses are the names of its package that a function mentions.
type uses struct {
	fields []use // of structs
	types  []use // of which it creates values
	vars   []use // and constants
	names  map[string]bool
}

// use is where a declaration is mentioned.
type use struct {
	f           *function
	owner, name string // owner is the struct of a field
	sel         *ast.SelectorExpr
	id          *ast.Ident
}

// readers are the functions whose operations a list has, the first one first.
func readers(root *function, list []operation) []*function {
	fs := []*function{root}
	for _, op := range list {
		if !slices.Contains(fs, op.f) {
			fs = append(fs, op.f)
		}
	}
	return fs
}

func usesOf(fs []*function) uses {
	u := uses{names: map[string]bool{}}
	for _, f := range fs {
		ast.Inspect(f.decl, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.SelectorExpr:
				u.names[x.Sel.Name] = true
				owner, _ := f.scope().field(x)
				u.fields = append(u.fields, use{f: f, owner: owner, name: x.Sel.Name, sel: x})
				ast.Inspect(x.X, func(n ast.Node) bool { return true })
			case *ast.Ident:
				if !f.scope().local(x.Name) && f.file.pkg.vars[x.Name] != nil {
					u.vars = append(u.vars, use{f: f, name: x.Name, id: x})
				}
				u.names[x.Name] = true
			case *ast.CompositeLit:
				u.literalFields(f, x)
			}
			return true
		})
	}
	return u
}

// literalFields adds the fields that a literal of a struct sets.
func (u *uses) literalFields(f *function, x *ast.CompositeLit) {
	if x.Type == nil {
		return
	}
	owner := typeName(x.Type)
	if t := f.file.pkg.types[owner]; t == nil || t.fields == nil {
		return
	}
	if id := typeIdent(x.Type); id != nil {
		u.types = append(u.types, use{f: f, name: owner, id: id})
	}
	for _, e := range x.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok {
				u.fields = append(u.fields, use{f: f, owner: owner, name: id.Name, id: id})
			}
		}
	}
}

// declarations returns the fields and package variables that one release uses and the other does
// not have. word is put before them.
func (d *difference) declarations(root, other *function, ops []operation, word string) (list []Fact) {
	u := usesOf(readers(root, ops))
	before := usesOf([]*function{other})
	for _, x := range u.fields {
		if f, ok := d.fieldFact(x, root, other, word); ok {
			list = append(list, f)
		} else if f, ok := d.usedField(x, before.names); ok && root == d.now {
			list = append(list, f)
		}
	}
	for _, x := range u.types {
		if f, ok := d.typeFact(x, root, other, word); ok {
			list = append(list, f)
		}
	}
	for _, x := range u.vars {
		v := x.f.file.pkg.vars[x.name]
		peer := other.file.pkg.tree.packageOf(x.f)
		if peer == nil || peer.vars[x.name] != nil {
			continue
		}
		f := d.at(x, root, x.id)
		f.Kind, f.Comment = KindVariable, v.comment
		f = f.say("uses the "+word+choose(v.isConst, "constant", "package variable"), x.name+v.shown(), "")
		f.score = 4 + holds(x.name+v.shown())
		if v.isConst || word == "" {
			f.score = 1
		}
		list = append(list, f)
	}
	return list
}

// typeIdent returns the identifier of a type's name; nil for types of other packages.
func typeIdent(t ast.Expr) *ast.Ident {
	switch t := t.(type) {
	case *ast.Ident:
		return t
	case *ast.IndexExpr:
		return typeIdent(t.X)
	case *ast.IndexListExpr:
		return typeIdent(t.X)
	}
	return nil
}

// typeFact returns the creation of a struct whose type the other release does not have.
func (d *difference) typeFact(x use, root, other *function, word string) (Fact, bool) {
	const mostFields = 3
	there := other.file.pkg.tree.packageOf(x.f)
	if there == nil || there.types[x.name] != nil {
		return Fact{}, false
	}
	t := x.f.file.pkg.types[x.name]
	var fields []string
	for _, name := range slices.Sorted(maps.Keys(t.fields)) {
		if len(fields) == mostFields {
			fields = append(fields, "…")
			break
		}
		fields = append(fields, name+" "+cut(t.fields[name].typ, 40))
	}
	f := d.at(x, root, x.id)
	shown := x.name + " (" + strings.Join(fields, ", ") + ")"
	f.Kind, f.score = KindType, 3+holds(shown)
	if word == "" {
		f.score = 1
	}
	return f.say("creates a value of the "+word+"type", shown, ""), true
}

// fieldFact returns the use of a field that the other release does not have.
func (d *difference) fieldFact(x use, root, other *function, word string) (Fact, bool) {
	here, there := x.f.file.pkg, other.file.pkg.tree.packageOf(x.f)
	if there == nil {
		return Fact{}, false
	}
	if x.owner == "" {
		x.owner = onlyOwner(here, there, x.name)
	}
	t := here.types[x.owner]
	if t == nil || t.fields[x.name] == nil {
		return Fact{}, false
	}
	peer := there.types[x.owner]
	var node ast.Node = x.id
	if x.sel != nil {
		node = x.sel.Sel
	}
	field := t.fields[x.name]
	f := d.at(x, root, node)
	f.Kind, f.Comment = KindField, field.comment
	f.score = 4 + holds(x.name+field.typ)
	switch {
	case peer == nil:
		return Fact{}, false // the whole type is new
	case peer.fields[x.name] == nil:
		f = f.say("uses the "+word+"field", x.name+" ("+cut(field.typ, 50)+")", " of "+x.owner)
		if word == "" {
			f.score = 1
		}
		return f, true
	case word != "" && peer.fields[x.name].typ != field.typ:
		return f.say("uses the field", x.name, " of "+x.owner+" as "+article(cut(field.typ, 50))+", not "+article(cut(peer.fields[x.name].typ, 50))), true
	}
	return Fact{}, false
}

// usedField returns the use of a field that both releases have, and that the old function does not
// use.
func (d *difference) usedField(x use, before map[string]bool) (Fact, bool) {
	t := x.f.file.pkg.types[x.owner]
	if x.f != d.now || before[x.name] || t == nil || t.fields[x.name] == nil || x.sel == nil {
		return Fact{}, false
	}
	field := t.fields[x.name]
	f := d.at(x, d.now, x.sel.Sel)
	f.Kind, f.Comment, f.score = KindField, field.comment, 0.9+holds(x.name+field.typ)
	return f.say("uses the field", x.name+" ("+cut(field.typ, 50)+")", " of "+x.owner), true
}

// onlyOwner returns the only struct of a package with a field that no struct of the other release
// has.
func onlyOwner(here, there *pkg, name string) (owner string) {
	for _, s := range there.structs() {
		if there.types[s].fields[name] != nil {
			return ""
		}
	}
	for _, s := range here.structs() {
		if here.types[s].fields[name] != nil {
			if owner != "" {
				return ""
			}
			owner = s
		}
	}
	return owner
}

// at returns a fact at the place of a use.
func (d *difference) at(x use, root *function, n ast.Node) Fact {
	f := Fact{Name: x.name, Line: x.f.file.line(n.Pos())}
	if x.f != root {
		f.In = x.f.title()
		if x.f.file.name != root.file.name {
			f.File = x.f.file.name
		}
	} else {
		f.rootLine = f.Line
	}
	return f
}

// shown is the type or the value of a variable, in parentheses.
func (v *variable) shown() string {
	text := v.typeText()
	switch {
	case v.isConst && v.value != nil:
		return " (" + v.file.short(v.value, 50) + ")"
	case text == "" && v.value != nil:
		text = v.file.short(v.value, 60)
	}
	if text == "" {
		return ""
	}
	return " (" + cut(text, 60) + ")"
}

// parameters returns parameters that are new, or that were of an interface type.
func (d *difference) parameters() (list []Fact) {
	old, now := flat(d.was), flat(d.now)
	for name, typ := range now {
		before, there := old[name]
		f := Fact{Kind: KindParameter, Name: name, Line: d.now.file.line(d.now.decl.Pos()), score: 2}
		switch {
		case !there && len(now) > len(old):
			f = f.say("has the new parameter", name+" ("+cut(typ, 50)+")", "")
		case there && isAny(before) && !isAny(typ):
			f = f.say("takes", name, " as "+article(cut(typ, 50))+", not as any")
		default:
			continue
		}
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b Fact) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return list
}

func isAny(typ string) bool {
	return typ == "any" || typ == "interface{}" || typ == "interface {}"
}

// flat returns the types of a function's parameters by their name.
func flat(f *function) map[string]string {
	types := map[string]string{}
	for _, p := range f.decl.Type.Params.List {
		for _, name := range p.Names {
			types[name.Name] = f.file.text(p.Type)
		}
	}
	return types
}
