package target

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/hone-go/hone/internal/live"
)

// moduleProxy returns a file tree that the go command takes as a module proxy, with one version of
// each module in the archive (MODULE@VERSION/file), and the environment in which only this proxy is
// asked.
func moduleProxy(t *testing.T, archive string) (env []string, cache string) {
	t.Helper()
	src, proxy, cache := tree(t, archive), t.TempDir(), filepath.Join(t.TempDir(), "mod")
	mods, err := filepath.Glob(filepath.Join(src, "example.com", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range mods {
		name, version, _ := strings.Cut("example.com/"+filepath.Base(dir), "@")
		at := filepath.Join(proxy, filepath.FromSlash(name), "@v")
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil {
			mod = []byte("module " + name + "\n") // what a proxy generates
		}
		for suffix, data := range map[string]string{".mod": string(mod), ".info": `{"Version":"` + version + `"}`} {
			if err := os.WriteFile(filepath.Join(at, version+suffix), []byte(data), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		f, err := os.Create(filepath.Join(at, version+".zip"))
		if err != nil {
			t.Fatal(err)
		}
		if err := zip.CreateFromDir(f, module.Version{Path: name, Version: version}, dir); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	t.Cleanup(func() { writable(cache) }) // the go command makes the cache read-only
	return []string{
		"GOPROXY=file://" + filepath.ToSlash(proxy), "GONOSUMDB=*", "GOFLAGS=-buildvcs=false", "GOWORK=",
		"GOMODCACHE=" + cache, "GOTOOLCHAIN=local",
	}, cache
}

func TestBuildInModuleCache(t *testing.T) {
	live.Only(t)
	env, cache := moduleProxy(t, `
-- example.com/tool@v1.2.0/go.mod --
module example.com/tool

go 1.20

require example.com/dep v1.0.0
-- example.com/tool@v1.2.0/go.sum --
-- example.com/tool@v1.2.0/cmd/tool/main.go --
package main

import (
	"os"

	"example.com/dep"
)

func main() { os.Stdout.WriteString("hello " + dep.Name + "\n") }
-- example.com/dep@v1.0.0/go.mod --
module example.com/dep
-- example.com/dep@v1.0.0/dep.go --
package dep

const Name = "module cache"
-- example.com/old@v0.1.0/main.go --
package main

func main() { println() }
`)
	user := tree(t, `
-- go.mod --
module example.com/user

go 1.21

require (
	example.com/tool v1.2.0
	example.com/old v0.1.0
)
-- tools.go --
//go:build tools

package tools

import (
	_ "example.com/tool/cmd/tool"
	_ "example.com/old"
)
`)
	g := goCommand{path: "go", dir: user, env: env}
	if _, err := g.run(soon(t), "mod", "tidy"); err != nil {
		t.Fatal(err)
	}
	before, cached := snapshot(t, user), snapshot(t, filepath.Join(cache, "example.com"))
	work := t.TempDir()
	for _, pkg := range []string{
		"example.com/tool/cmd/tool",
		filepath.Join(cache, "example.com", "tool@v1.2.0", "cmd", "tool"), // the copy is in the cache now
	} {
		b := mustBuild(t, BuildSpec{Package: pkg, Dir: user, WorkDir: work, Env: env})
		if b.ImportPath != "example.com/tool/cmd/tool" || b.Module != "example.com/tool" || !strings.HasPrefix(b.Dir, work) {
			t.Errorf("built %+v", b)
		}
		wantIn(t, strings.Join(b.Notes, "\n"), "copy of example.com/tool@v1.2.0")
		says(t, b, "hello module cache\n")
	}
	mustBuild(t, BuildSpec{Package: "example.com/old", Dir: user, WorkDir: work, Env: env})
	if !maps.Equal(before, snapshot(t, user)) || !maps.Equal(cached, snapshot(t, filepath.Join(cache, "example.com"))) {
		t.Error("the user's module or the module cache is not as it was")
	}
}

// TestGuardSums: a build in a workspace may find checksums that go.work.sum lacks.
func TestGuardSums(t *testing.T) {
	t.Parallel()
	env, _ := moduleProxy(t, `
-- example.com/dep@v1.0.0/go.mod --
module example.com/dep
-- example.com/dep@v1.0.0/dep.go --
package dep

const Name = "workspace"
`)
	dir := tree(t, `
-- go.work --
go 1.21

use ./app
-- app/go.mod --
module example.com/app

go 1.21

require example.com/dep v1.0.0
-- app/main.go --
package main

import "example.com/dep"

func main() { println(dep.Name) }
`)
	before := snapshot(t, dir)
	mustBuild(t, BuildSpec{Package: "./app", Dir: dir, Env: env})
	if after := snapshot(t, dir); !maps.Equal(before, after) {
		t.Errorf("the workspace is not as it was: %q", after)
	}
}

// TestBuildToolchains uses Go versions that the machine already has.
func TestBuildToolchains(t *testing.T) {
	live.Only(t)
	dir := unpack(t, "names")
	for version, probe := range map[string]bool{"go1.22.12": false, "go1.23.4": true} {
		t.Run(version, func(t *testing.T) {
			env := []string{"GOTOOLCHAIN=" + version, "GOPROXY=off"}
			if _, err := (goCommand{path: "go", dir: dir, env: env}).run(soon(t), "version"); err != nil {
				t.Skip("it is not on this machine")
			}
			b, err := Build(soon(t), BuildSpec{Dir: dir, WorkDir: t.TempDir(), Env: env})
			if err != nil {
				t.Fatal(err)
			}
			if b.Probe != probe || b.Go != version {
				t.Fatalf("built by %s, probe %v, notes %q", b.Go, b.Probe, b.Notes)
			}
			if !probe {
				wantIn(t, strings.Join(b.Notes, "\n"), version, "1.23 or newer")
			}
			says(t, b, "hello names\n")
		})
	}
}
