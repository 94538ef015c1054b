package gocode

import (
	"context"
	"testing"

	xmodule "golang.org/x/mod/module"
	"pgregory.net/rapid"
)

func TestSymbolPackage(t *testing.T) {
	for fn, want := range map[string]string{
		"main.main":                                  "main",
		"net/http.(*Server).Serve":                   "net/http",
		"example.com/a.v2/b.F.func1":                 "example.com/a.v2/b",
		"gopkg.in/yaml%2ev3.Unmarshal":               "gopkg.in/yaml.v3",
		"example.com/p.F[go.shape.struct { a/b.T }]": "example.com/p",
		"example.com/p.(*T[...]).M":                  "example.com/p",
		"type:.eq.net/http.T":                        "net/http",
		"type:.hash.main.T":                          "main",
		"go:buildid":                                 "",
		"malloc":                                     "",
		"_rt0_amd64_linux":                           "",
		"":                                           "",
		"(":                                          "",
		"[":                                          "",
	} {
		if got := unescapeSymbol(symbolPackage(fn)); got != want {
			t.Errorf("package of %q is %q, want %q", fn, got, want)
		}
	}
}

func TestGuessModule(t *testing.T) {
	for pkg, want := range map[string]string{
		"github.com/a/b/c/d":      "github.com/a/b",
		"github.com/a/b/v2/c":     "github.com/a/b/v2",
		"github.com/a":            "",
		"golang.org/x/tools/go":   "golang.org/x/tools",
		"gopkg.in/yaml.v3":        "gopkg.in/yaml.v3",
		"gopkg.in/go-x/y.v1/z":    "gopkg.in/go-x/y.v1",
		"go.uber.org/zap/zapcore": "go.uber.org/zap",
		"example.com/a/b":         "",
		"":                        "",
	} {
		if got := guessModule(pkg); got != want {
			t.Errorf("module of %q is guessed as %q, want %q", pkg, got, want)
		}
	}
}

// Any module and version can be read from a path in the module cache and from a trimmed path.
func TestVersionedRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mod := rapid.StringMatching(`[a-z]{1,5}\.[a-z]{2,3}(/[A-Za-z][A-Za-z0-9-]{0,6}){0,3}`).Draw(t, "module")
		version := rapid.StringMatching(`v[0-9]\.[0-9]\.[0-9](-[A-Za-z]{1,4}\.[0-9])?`).Draw(t, "version")
		file := rapid.StringMatching(`([a-z]{1,4}/){0,2}[a-z]{1,4}\.go`).Draw(t, "file")
		p, err := xmodule.EscapePath(mod)
		if err != nil {
			t.Skip(err)
		}
		v, err := xmodule.EscapeVersion(version)
		if err != nil {
			t.Skip(err)
		}
		known := modules{{path: mod}}
		want := versioned{mod, version, file}
		for path, ms := range map[string]modules{
			mod + "@" + version + "/" + file:                 nil,
			"/home/x/go/pkg/mod/" + p + "@" + v + "/" + file: nil,
			"/var/cache.d/" + p + "@" + v + "/" + file:       known,
		} {
			if got, ok := splitVersioned(path, ms); !ok || got != want {
				t.Fatalf("%s is read as %+v, %v; want %+v", path, got, ok, want)
			}
		}
	})
}

// No function or file name makes Owner panic, and an owner is never incomplete.
func FuzzOwner(f *testing.F) {
	for _, s := range [][2]string{
		{"main.main", "/src/app/main.go"}, {"a/b.F[...]", "/x/pkg/mod/a.b/!c@v1.0.0/f.go"}, {"", "@v1/"}, {"x", "//vendor/"},
		{"%", "C:/src/net/f.go"}, {"a%2.b", "./"}, {"type:.eq.", "/src/"}, {"example.com/app.F", "example.com/app"},
	} {
		f.Add(s[0], s[1])
	}
	var indexes []*Index
	for _, c := range []Config{{BuildInfo: appInfo}, {}} {
		x, err := Open(context.Background(), c)
		if err != nil {
			f.Fatal(err)
		}
		indexes = append(indexes, x)
	}
	f.Fuzz(func(t *testing.T, function, file string) {
		for _, x := range indexes {
			o := x.owner(unescapeSymbol(symbolPackage(function)), slashed(file))
			if o.Kind == Std && (o.Package == "" || o.Module != "") {
				t.Errorf("Owner(%q, %q) = %+v", function, file, o)
			}
			if o.Kind == Dependency && o.Package == "" {
				t.Errorf("Owner(%q, %q) = %+v", function, file, o)
			}
		}
	})
}

func BenchmarkOwner(b *testing.B) {
	x := open(b, Config{BuildInfo: appInfo})
	const fn, file = "github.com/Upper/Case/in.(*T[...]).M", "/home/u/go/pkg/mod/github.com/!upper/!case@v1.2.3/in/f.go"
	b.Run("asked before", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			x.Owner(fn, file)
		}
	})
	b.Run("asked before, concurrently", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				x.Owner(fn, file)
			}
		})
	})
	b.Run("first time", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			x.owner("github.com/Upper/Case/in", file)
		}
	})
}
