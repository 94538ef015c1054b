package altmod

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"
)

// noVersion is the version in a require directive for a module that a replace directive replaces.
const noVersion = "v0.0.0-00010101000000-000000000000"

// addWorkspace adds what go.work adds to the main module: the other modules, the replacements of
// all of them, and their checksums. The replacements of go.work come last, because they override
// those of the modules.
func (t *Tree) addWorkspace(gomod, gowork string) error {
	data, err := os.ReadFile(gowork)
	if err != nil {
		return err
	}
	work, err := modfile.ParseWork(gowork, data, nil)
	if err != nil {
		return err
	}
	main, err := modfile.Parse(gomod, t.gomod, nil)
	if err != nil {
		return err
	}
	root := filepath.Dir(gowork)
	t.addSum(filepath.Join(root, "go.work.sum"))
	var others []*modfile.File
	for _, use := range work.Use {
		dir := use.Path
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(root, filepath.FromSlash(dir))
		}
		file := filepath.Join(dir, "go.mod")
		if file == gomod {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		f, err := modfile.Parse(file, data, nil)
		if err != nil {
			return err
		}
		t.addSum(filepath.Join(dir, "go.sum"))
		others = append(others, f)
		if err := replaceAll(main, f.Replace, dir); err != nil {
			return err
		}
	}
	if err := replaceAll(main, work.Replace, root); err != nil {
		return err
	}
	for _, f := range others {
		path := f.Module.Mod.Path
		if !slices.ContainsFunc(main.Require, func(r *modfile.Require) bool { return r.Mod.Path == path }) {
			if err := main.AddRequire(path, noVersion); err != nil {
				return err
			}
		}
		if err := replace(main, path, "", filepath.Dir(f.Syntax.Name), ""); err != nil {
			return err
		}
	}
	// The go command does not accept a main module whose Go version is older than that of a module
	// that it requires.
	newest := ""
	for _, f := range append(others, main) {
		if f.Go != nil && (newest == "" || compareGo(f.Go.Version, newest) > 0) {
			newest = f.Go.Version
		}
	}
	if newest != "" && (main.Go == nil || main.Go.Version != newest) {
		if err := main.AddGoStmt(newest); err != nil {
			return err
		}
	}
	main.Cleanup()
	t.gomod, err = main.Format()
	return err
}

// replaceAll adds the replace directives of a file in dir.
func replaceAll(f *modfile.File, list []*modfile.Replace, dir string) error {
	for _, r := range list {
		to := r.New.Path
		if r.New.Version == "" && !filepath.IsAbs(to) { // a path relative to that file
			to = filepath.Join(dir, filepath.FromSlash(to))
		}
		if err := replace(f, r.Old.Path, r.Old.Version, to, r.New.Version); err != nil {
			return err
		}
	}
	return nil
}

// replace adds a replace directive instead of those of the same module and version; without a
// version, instead of all.
func replace(f *modfile.File, old, oldVersion, new, newVersion string) error {
	for _, r := range slices.Clone(f.Replace) {
		if r.Old.Path == old && (oldVersion == "" || r.Old.Version == oldVersion) {
			if err := f.DropReplace(r.Old.Path, r.Old.Version); err != nil {
				return err
			}
		}
	}
	return f.AddReplace(old, oldVersion, new, newVersion)
}

// addSum appends checksums; a file that does not exist has none.
func (t *Tree) addSum(path string) {
	if data, err := os.ReadFile(path); err == nil {
		t.gosum = slices.Concat(t.gosum, []byte("\n"), data)
	}
}

// compareGo compares the versions of go directives, as 1.9 and 1.26.0.
func compareGo(a, b string) int {
	x, y := goParts(a), goParts(b)
	return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]), cmp.Compare(x[2], y[2]))
}

func goParts(v string) (parts [3]int) {
	at := 0
	for _, c := range v {
		switch {
		case c >= '0' && c <= '9':
			parts[at] = min(parts[at], 1e6)*10 + int(c-'0')
		case c == '.' && at < 2:
			at++
		default:
			return parts
		}
	}
	return parts
}
