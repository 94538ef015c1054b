package capture

import (
	"bytes"
	"cmp"
	"context"
	"net/url"
	"os"
	pathpkg "path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/hone-go/hone/internal/altmod"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/symbol"
)

// hotModules returns the dependencies that carry the cost, most expensive first.
func hotModules(profiles map[string][]byte, buildInfo string) []upgrade {
	var deps []*debug.Module // none in the binaries of tests
	if info, err := debug.ParseBuildInfo(buildInfo); err == nil {
		deps = info.Deps
	}
	byPath := map[string]*upgrade{}
	for _, of := range []struct{ part, column string }{{recording.PartCPU, "cpu"}, {recording.PartAllocs, "alloc_space"}, {recording.PartHeap, "inuse_space"}, {recording.PartGoroutine, "goroutine"}} {
		p, err := decode(profiles[of.part])
		if err != nil {
			continue
		}
		index, err := p.SampleIndex(of.column)
		if err != nil {
			continue
		}
		var cached map[string]*debug.Module
		if len(deps) == 0 {
			cached = cachedModules(p)
		}
		for name, share := range packageShares(p, index) {
			pkg, _ := url.PathUnescape(name) // the linker escapes dots: "gopkg.in/yaml%2ev3"
			d := moduleOf(deps, pkg)
			if d == nil {
				d = cached[name]
			}
			if share < countedShare || d == nil || d.Replace != nil || !semver.IsValid(d.Version) {
				continue
			}
			if byPath[d.Path] == nil {
				byPath[d.Path] = &upgrade{ModuleUpgrade: recording.ModuleUpgrade{Path: d.Path, From: d.Version}}
			}
			u := byPath[d.Path]
			u.share = max(u.share, share)
			if !slices.Contains(u.packages, pkg) {
				u.packages = append(u.packages, pkg)
			}
		}
	}
	var list []upgrade
	for _, u := range byPath {
		if u.share >= upgradeShare {
			list = append(list, *u)
		}
	}
	slices.SortFunc(list, func(a, b upgrade) int { return cmp.Or(cmp.Compare(b.share, a.share), strings.Compare(a.Path, b.Path)) })
	return list[:min(len(list), mostUpgrades)]
}

// cachedModules returns the modules of packages whose files are in a module cache, by package as
// the profile names it: …/github.com/x/y@v1.2.3/z.go.
func cachedModules(p *profile.Profile) map[string]*debug.Module {
	found := map[string]*debug.Module{}
	for _, f := range p.Functions {
		dir, rest, ok := strings.Cut(filepath.ToSlash(f.Filename), "@")
		name := symbol.Package(f.Name)
		if !ok || found[name] != nil {
			continue
		}
		version, _, _ := strings.Cut(rest, "/")
		pkg, _ := url.PathUnescape(name)
		for path := pkg; path != "." && path != "/"; path = pathpkg.Dir(path) {
			escaped, err := module.EscapePath(path)
			if err == nil && (dir == escaped || strings.HasSuffix(dir, "/"+escaped)) {
				found[name] = &debug.Module{Path: path, Version: version}
				break
			}
		}
	}
	return found
}

// moduleOf returns the module that a package belongs to; nil if that is none of the dependencies.
func moduleOf(deps []*debug.Module, pkg string) (of *debug.Module) {
	for _, d := range deps {
		if (pkg == d.Path || strings.HasPrefix(pkg, d.Path+"/")) && (of == nil || len(d.Path) > len(of.Path)) {
			of = d
		}
	}
	return of
}

// differing returns the modules of which a newer release has other code in the packages that carry
// the cost. The error is that of the last module which could not be looked at.
func differing(ctx context.Context, tree *altmod.Tree, hot []upgrade) (found []upgrade, err error) {
	for _, u := range hot {
		newer, lerr := tree.Newer(ctx, u.Path, u.From)
		if lerr != nil { // without a network, the module cache may have some
			newer = downloaded(ctx, &u)
		}
		if lerr != nil && len(newer) == 0 {
			err = lerr
			continue
		}
		for i, v := range newer {
			if i+1 == len(newer) || semver.MajorMinor(newer[i+1]) != semver.MajorMinor(v) {
				u.releases = append(u.releases, v)
			}
		}
		if len(u.releases) == 0 { // what is fixed on the default branch may not be released yet
			head := tree.Head(ctx, u.Path, u.From)
			if head == "" {
				continue
			}
			u.releases = []string{head}
		}
		u.To = u.releases[len(u.releases)-1]
		same, serr := sameSource(ctx, tree, &u)
		if serr != nil {
			err = serr
		} else if !same {
			found = append(found, u)
		}
	}
	return found, err
}

// downloaded returns the newer releases of a module that the module cache has.
func downloaded(ctx context.Context, u *upgrade) []string {
	code, err := gocode.Open(ctx, gocode.Config{})
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(code.Releases(ctx, u.Path, u.From, ""), func(v string) bool {
		dir, ok := code.ModuleDir(u.Path, v)
		if !ok {
			return true
		}
		_, err := os.Stat(dir)
		return err != nil
	})
}

// sameSource reports whether the packages that carry the cost have the same files in the newest
// release.
func sameSource(ctx context.Context, tree *altmod.Tree, u *upgrade) (bool, error) {
	old, err := tree.Source(ctx, u.Path, u.From)
	if err != nil {
		return false, err
	}
	newest, err := tree.Source(ctx, u.Path, u.To)
	if err != nil {
		return false, err
	}
	for _, pkg := range u.packages {
		below := filepath.FromSlash(strings.TrimPrefix(strings.TrimPrefix(pkg, u.Path), "/"))
		if !sameFiles(filepath.Join(old, below), filepath.Join(newest, below)) {
			return false, nil
		}
	}
	return true, nil
}

// sameFiles reports whether two directories have the same Go files, without tests.
// tryUpgrades tries the newest releases of all modules at once; if that fails, the newest ones that
// the target builds with.
func sameFiles(a, b string) bool {
	read := func(dir string) map[string][]byte {
		files := map[string][]byte{}
		names, _ := filepath.Glob(filepath.Join(dir, "*.go"))
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			if err == nil {
				files[filepath.Base(name)] = text
			}
		}
		return files
	}
	x, y := read(a), read(b)
	if len(x) != len(y) {
		return false
	}
	for name, text := range x {
		if !bytes.Equal(text, y[name]) {
			return false
		}
	}
	return true
}
