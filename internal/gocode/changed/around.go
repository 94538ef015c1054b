package changed

import (
	"bytes"
	"cmp"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const (
	maxAround      = 2        // callers and namesakes
	maxSearched    = 2000     // files of a module in which importers are searched
	maxSearchBytes = 32 << 20 // in all
)

// callers compares the functions that call a function in the old release and do so less in the new
// one: those of its package, or if there are none, those of the module.
func (p *pair) callers(was *function) (list []Change) {
	list = p.callersIn(was.file.pkg, was)
	if len(list) > 0 || !was.decl.Name.IsExported() {
		return list
	}
	for _, importer := range p.old.importers(was.file.pkg.path) {
		list = append(list, p.callersIn(importer, was)...)
		if len(list) >= maxAround {
			return list[:maxAround]
		}
	}
	return list
}

func (p *pair) callersIn(in *pkg, was *function) (list []Change) {
	for _, f := range in.sorted() {
		if len(list) == maxAround || p.seen[f.id()] || !callsDirectly(f, was) {
			continue
		}
		now := p.new.counterpart(f)
		if now == nil {
			continue
		}
		c := p.compare(f, now, maxDepth)
		less := func(g Fact) bool { return g.calls(was) }
		c.still = !slices.ContainsFunc(c.Gone, less)
		if !c.still || slices.ContainsFunc(c.New, func(g Fact) bool { return g.Kind == KindCondition && less(g) }) {
			c.Role = RoleCaller
			list = append(list, c)
		}
	}
	return list
}

// calls reports whether a fact is about a call of a function.
func (f *Fact) calls(g *function) bool {
	return slices.ContainsFunc(f.targets, func(t *function) bool { return t != nil && t.id() == g.id() })
}

func callsDirectly(f, g *function) bool {
	return slices.ContainsFunc(operations(f, func(*function) bool { return false }), func(op operation) bool { return op.target == g })
}

// namesakes compares a function that is gone with new functions of the same name and another
// receiver.
func (p *pair) namesakes(was *function) (list []Change) {
	there, here := p.new.packageOf(was), was.file.pkg
	if there == nil {
		return nil
	}
	for _, f := range there.named[was.decl.Name.Name] {
		if len(list) == maxAround || len(here.funcs[f.key]) > 0 {
			continue
		}
		c := p.compare(was, f, maxDepth)
		c.Name, c.Role = f.title(), RoleNamesake
		if c.tells() {
			list = append(list, c)
		}
	}
	return list
}

// sorted returns the functions of a package in the order of its files.
func (p *pkg) sorted() (list []*function) {
	for _, key := range slices.Sorted(maps.Keys(p.funcs)) {
		list = append(list, p.funcs[key][0])
	}
	slices.SortStableFunc(list, func(a, b *function) int {
		return cmp.Or(cmp.Compare(a.file.name, b.file.name), cmp.Compare(a.decl.Pos(), b.decl.Pos()))
	})
	return list
}

// importers returns the packages of the module that import one of them.
func (t *tree) importers(importPath string) (list []*pkg) {
	quoted := []byte(`"` + importPath + `"`)
	files, size := 0, 0
	_ = filepath.WalkDir(t.release.Dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be read has no importers
		}
		if d.IsDir() {
			if base := d.Name(); name != t.release.Dir && (base == "vendor" || base == "testdata" || base[0] == '.' || base[0] == '_') {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		if files++; files > maxSearched || size > maxSearchBytes {
			return fs.SkipAll
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxFileBytes {
			return nil //nolint:nilerr // as above
		}
		src, err := os.ReadFile(name)
		size += len(src)
		if err == nil && bytes.Contains(src, quoted) {
			list = t.addPackage(list, filepath.Dir(name))
		}
		return nil
	})
	return list
}

// addPackage adds the package of a directory to a list, once.
func (t *tree) addPackage(list []*pkg, dir string) []*pkg {
	rel, err := filepath.Rel(t.release.Dir, dir)
	if err != nil {
		return list
	}
	p := t.load(path.Join(t.release.Module, filepath.ToSlash(rel)))
	if p == nil || slices.Contains(list, p) {
		return list
	}
	return append(list, p)
}
