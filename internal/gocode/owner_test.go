package gocode

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
)

const appInfo = `go	go1.26.8
path	example.com/app/cmd/srv
mod	example.com/app	(devel)	
dep	example.com/Dep	v0.0.0
=>	../dep	(devel)	
dep	github.com/Upper/Case	v1.2.3	h1:5VSzCYO3vSLyiLa5KRBSdxUCyNXM7lIAyyw5n3rXGwE=
dep	github.com/go-chi/chi	v3.3.4+incompatible	h1:5VSzCYO3vSLyiLa5KRBSdxUCyNXM7lIAyyw5n3rXGwE=
dep	github.com/orig/lib	v1.0.0
=>	github.com/fork/lib	v1.0.1	h1:5VSzCYO3vSLyiLa5KRBSdxUCyNXM7lIAyyw5n3rXGwE=
dep	example.com/ws	(devel)
dep	gopkg.in/yaml.v3	v3.0.1	h1:5VSzCYO3vSLyiLa5KRBSdxUCyNXM7lIAyyw5n3rXGwE=
build	-buildmode=exe
build	GOOS=linux
`

func open(t testing.TB, c Config) *Index {
	t.Helper()
	x, err := Open(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Paths of a program that was built elsewhere: only build info and paths are known.
func TestOwnerOfARemoteProgram(t *testing.T) {
	x := open(t, Config{BuildInfo: appInfo})
	for _, c := range []struct {
		name, function, file string
		want                 Owner
	}{
		{"main package", "main.main", "/src/x/app/cmd/srv/main.go",
			Owner{Main, "example.com/app", "", "example.com/app/cmd/srv", "cmd/srv/main.go"}},
		{"main package, trimmed", "main.main", "example.com/app/cmd/srv/main.go",
			Owner{Main, "example.com/app", "", "example.com/app/cmd/srv", "cmd/srv/main.go"}},
		{"main module", "example.com/app/foo.(*T).M", "/build/foo/foo.go",
			Owner{Main, "example.com/app", "", "example.com/app/foo", "foo/foo.go"}},
		{"main module, trimmed", "example.com/app/foo.F", "example.com/app/foo/foo.go",
			Owner{Main, "example.com/app", "", "example.com/app/foo", "foo/foo.go"}},
		{"main module, closure inlined elsewhere", "main.main.Do.func1", "/src/x/app/foo/foo.go",
			Owner{Main, "example.com/app", "", "example.com/app/foo", "foo/foo.go"}},
		{"module's root", "example.com/app.F", "/src/x/app/app.go",
			Owner{Main, "example.com/app", "", "example.com/app", "app.go"}},
		{"module's root in a directory of another name", "example.com/app.F", "/build/app.go",
			Owner{Main, "example.com/app", "", "example.com/app", "app.go"}},
		{"closure inlined into the module's root", "example.com/app.F.Do.func1", "/src/x/app/foo/foo.go",
			Owner{Main, "example.com/app", "", "example.com/app/foo", "foo/foo.go"}},
		{"main package in a directory of another name", "main.main", "/build/main.go",
			Owner{Main, "example.com/app", "", "example.com/app/cmd/srv", "main.go"}},
		{"replaced by a directory", "example.com/Dep/sub.F", "/src/x/dep/sub/s.go",
			Owner{Dependency, "example.com/Dep", "", "example.com/Dep/sub", "sub/s.go"}},
		{"replaced by a directory, trimmed", "example.com/Dep/sub.F", "example.com/Dep@v0.0.0/sub/s.go",
			Owner{Dependency, "example.com/Dep", "", "example.com/Dep/sub", "sub/s.go"}},
		{"module cache, escaped", "github.com/Upper/Case/in.F[...]", "/home/u/go/pkg/mod/github.com/!upper/!case@v1.2.3/in/f.go",
			Owner{Dependency, "github.com/Upper/Case", "v1.2.3", "github.com/Upper/Case/in", "in/f.go"}},
		{"module cache elsewhere", "gopkg.in/yaml%2ev3.Unmarshal", "/var/my.cache/gopkg.in/yaml.v3@v3.0.1/yaml.go",
			Owner{Dependency, "gopkg.in/yaml.v3", "v3.0.1", "gopkg.in/yaml.v3", "yaml.go"}},
		{"closure that keeps its caller's name", "main.main.Compress.func2.1", "/home/u/go/pkg/mod/github.com/go-chi/chi@v3.3.4+incompatible/middleware/compress.go",
			Owner{Dependency, "github.com/go-chi/chi", "v3.3.4+incompatible", "github.com/go-chi/chi/middleware", "middleware/compress.go"}},
		{"trimmed", "github.com/go-chi/chi/middleware.Compress", "github.com/go-chi/chi@v3.3.4+incompatible/middleware/compress.go",
			Owner{Dependency, "github.com/go-chi/chi", "v3.3.4+incompatible", "github.com/go-chi/chi/middleware", "middleware/compress.go"}},
		{"not in build info", "github.com/who/knows.F", "/home/u/go/pkg/mod/github.com/who/knows@v0.1.0/f.go",
			Owner{Dependency, "github.com/who/knows", "v0.1.0", "github.com/who/knows", "f.go"}},
		{"fork", "github.com/orig/lib.F", "/home/u/go/pkg/mod/github.com/fork/lib@v1.0.1/f.go",
			Owner{Dependency, "github.com/orig/lib", "v1.0.1", "github.com/orig/lib", "f.go"}},
		{"fork, trimmed", "github.com/orig/lib.F", "github.com/orig/lib@v1.0.0/f.go",
			Owner{Dependency, "github.com/orig/lib", "v1.0.1", "github.com/orig/lib", "f.go"}},
		{"workspace", "example.com/ws/p.F", "/src/x/ws/p/p.go",
			Owner{Main, "example.com/ws", "", "example.com/ws/p", "p/p.go"}},
		{"workspace, trimmed", "example.com/ws/p.F", "example.com/ws/p/p.go",
			Owner{Main, "example.com/ws", "", "example.com/ws/p", "p/p.go"}},
		{"vendored", "github.com/Upper/Case/in.F", "/src/x/app/vendor/github.com/Upper/Case/in/f.go",
			Owner{Dependency, "github.com/Upper/Case", "v1.2.3", "github.com/Upper/Case/in", "in/f.go"}},
		{"std", "net/http.(*Server).Serve", "/usr/local/go/src/net/http/server.go",
			Owner{Std, "", "", "net/http", "net/http/server.go"}},
		{"std in an odd place", "runtime.mallocgc", "/opt/odd/src/runtime/malloc.go",
			Owner{Std, "", "", "runtime", "runtime/malloc.go"}},
		{"std, trimmed", "runtime.main", "runtime/proc.go",
			Owner{Std, "", "", "runtime", "runtime/proc.go"}},
		{"std's vendor", "vendor/golang.org/x/net/http/httpguts.F", "/usr/lib/go-1.26/src/vendor/golang.org/x/net/http/httpguts/guts.go",
			Owner{Std, "", "", "vendor/golang.org/x/net/http/httpguts", "vendor/golang.org/x/net/http/httpguts/guts.go"}},
		{"std inlined into main", "main.main.OnceFunc.func1", "/usr/local/go/src/sync/oncefunc.go",
			Owner{Std, "", "", "sync", "sync/oncefunc.go"}},
		{"toolchain in the module cache", "sync.(*Once).Do", "/home/u/go/pkg/mod/golang.org/toolchain@v0.0.1-go1.26.1.linux-amd64/src/sync/once.go",
			Owner{Std, "", "", "sync", "sync/once.go"}},
		{"assembly", "runtime.memmove", "/usr/local/go/src/runtime/memmove_amd64.s",
			Owner{Std, "", "", "runtime", "runtime/memmove_amd64.s"}},
		{"Windows", "main.main", `C:\src\app\cmd\srv\main.go`,
			Owner{Main, "example.com/app", "", "example.com/app/cmd/srv", "cmd/srv/main.go"}},
		{"Windows std", "fmt.Sprintf", "C:/Program Files/Go/src/fmt/print.go",
			Owner{Std, "", "", "fmt", "fmt/print.go"}},
		{"autogenerated", "example.com/app/foo.(*T).M", "<autogenerated>",
			Owner{Main, "example.com/app", "", "example.com/app/foo", "<autogenerated>"}},
		{"autogenerated equality", "type:.eq.net/http.T", "<autogenerated>",
			Owner{Std, "", "", "net/http", "<autogenerated>"}},
		{"cgo", "main._Cfunc_add", "_cgo_gotypes.go",
			Owner{Main, "example.com/app", "", "example.com/app/cmd/srv", "_cgo_gotypes.go"}},
		{"cgo in a dependency", "github.com/Upper/Case._Cfunc_add", "_cgo_gotypes.go",
			Owner{Dependency, "github.com/Upper/Case", "v1.2.3", "github.com/Upper/Case", "_cgo_gotypes.go"}},
		{"test main", "main.main", "_testmain.go",
			Owner{Main, "example.com/app", "", "example.com/app/cmd/srv", "_testmain.go"}},
		{"external test", "example.com/app/foo_test.TestX", "/src/x/app/foo/x_test.go",
			Owner{Main, "example.com/app", "", "example.com/app/foo", "foo/x_test.go"}},
		{"C", "malloc", "", Owner{}},
		{"user's src/net", "example.com/app/src/net.F", "/home/u/app/src/net/f.go",
			Owner{Main, "example.com/app", "", "example.com/app/src/net", "src/net/f.go"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 2 { // the second answer is the remembered one
				if got := x.Owner(c.function, c.file); got != c.want {
					t.Errorf("Owner(%q, %q) =\n %+v, want\n %+v", c.function, c.file, got, c.want)
				}
			}
		})
	}
}

// Only the frames are known.
func TestOwnerByPathsAlone(t *testing.T) {
	x := open(t, Config{})
	for _, c := range []struct {
		name, function, file string
		want                 Owner
	}{
		{"main", "main.main", "/nowhere/app/main.go", Owner{Kind: Main, Package: "main", File: "main.go"}},
		{"local directory", "github.com/me/app/in.F", "/nowhere/app/in/f.go",
			Owner{Main, "github.com/me/app", "", "github.com/me/app/in", "in/f.go"}},
		{"trimmed main", "github.com/me/app/in.F", "github.com/me/app/in/f.go",
			Owner{Main, "github.com/me/app", "", "github.com/me/app/in", "in/f.go"}},
		{"module cache elsewhere", "x.F", "/cache/github.com/x/y@v1.0.0/f.go",
			Owner{Dependency, "github.com/x/y", "v1.0.0", "github.com/x/y", "f.go"}},
		{"vendored", "github.com/x/y/z.F", "/nowhere/app/vendor/github.com/x/y/z/f.go",
			Owner{Dependency, "github.com/x/y", "", "github.com/x/y/z", "z/f.go"}},
		{"std", "strconv.Itoa", "/nix/store/abc-go-1.26/share/go/src/strconv/itoa.go", Owner{Std, "", "", "strconv", "strconv/itoa.go"}},
		{"relative to nothing", "C.f", "external/f.c", Owner{Package: "C", File: "external/f.c"}},
		{"generated", "github.com/x/y.F", "<autogenerated>",
			Owner{Unknown, "github.com/x/y", "", "github.com/x/y", "<autogenerated>"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := x.Owner(c.function, c.file); got != c.want {
				t.Errorf("Owner(%q, %q) =\n %+v, want\n %+v", c.function, c.file, got, c.want)
			}
		})
	}
}

func TestKindString(t *testing.T) {
	for k, want := range map[Kind]string{Unknown: "unknown", Main: "main", Dependency: "dependency", Std: "std", 99: "unknown"} {
		if k.String() != want {
			t.Errorf("Kind(%d) is %s, want %s", k, k, want)
		}
	}
}

func TestBuildInfo(t *testing.T) {
	x := open(t, Config{BuildInfo: appInfo + "build\t-tags=a,b"}) // the last line without its end
	if i := x.BuildInfo(); i == nil || i.GoVersion != "go1.26.8" || i.Main.Path != "example.com/app" || len(i.Deps) != 6 {
		t.Errorf("build info %+v", x.BuildInfo())
	}
	if x.Setting("-tags") != "a,b" || x.Setting("GOOS") != "linux" || x.Setting("none") != "" {
		t.Errorf("settings %v", x.BuildInfo().Settings)
	}
	if notes := strings.Join(x.Notes(), "\n"); !strings.Contains(notes, "example.com/Dep is replaced by the directory ../dep") ||
		!strings.Contains(notes, "github.com/orig/lib is replaced by github.com/fork/lib v1.0.1") {
		t.Errorf("notes %s", notes)
	}
	x = open(t, Config{BuildInfo: "mod\tx\n"})
	if x.BuildInfo() != nil || x.Setting("GOOS") != "" || len(x.Notes()) != 1 || !strings.Contains(x.Notes()[0], "line 1") {
		t.Errorf("broken build info: %v, notes %q", x.BuildInfo(), x.Notes())
	}
}

// Several goroutines ask for owners.
func TestOwnerConcurrently(t *testing.T) {
	x := open(t, Config{BuildInfo: appInfo})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 200 {
				file := fmt.Sprintf("/home/u/go/pkg/mod/github.com/!upper/!case@v1.2.3/d%d/f.go", (i+j)%50)
				if o := x.Owner("main.main", file); o.Version != "v1.2.3" {
					t.Errorf("%s is owned by %+v", file, o)
				}
			}
		})
	}
	wg.Wait()
}
