package symbol_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hone-go/hone/profile/symbol"
	"pgregory.net/rapid"
)

func TestReadableName(t *testing.T) {
	for name, want := range map[string]string{
		"main.main":                                "main.main",
		"main.run.func1":                           "main.run (closure 1)",
		"main.run.func1.2":                         "main.run (closure 1.2)",
		"main.run.func1.2.3":                       "main.run (closure 1.2.3)",
		"net/http.(*conn).serve.func1":             "net/http.(*conn).serve (closure 1)",
		"example.com/a.b/c.F.func12":               "example.com/a.b/c.F (closure 12)",
		"main.(*T).M-fm":                           "main.(*T).M (method value)",
		"main.serve.gowrap1":                       "main.serve (go statement 1)",
		"main.serve.func2.deferwrap3":              "main.serve (closure 2, deferred call 3)",
		"main.glob..func1":                         "main (closure 1 of a package variable)",
		"main.glob..func1.2":                       "main (closure 1.2 of a package variable)",
		"main.init.func1":                          "main.init (closure 1)",
		"main.init.0":                              "main.init.0",
		"main.init.0.func1":                        "main.init.0 (closure 1)",
		"main.walk-range1":                         "main.walk (range body 1)",
		"main.walk.func1-range2":                   "main.walk (closure 1, range body 2)",
		"main.walk.func2.(*Tree).All.func1-range1": "main.walk (closure 2, closure 1 of (*Tree).All, range body 1)",
		// G inlined into F, or the method G of F: the name does not distinguish them.
		"main.F.G.func1": "main.F.G (closure 1)",

		"main.Map[...]":       "main.Map[...]",
		"main.Map[...].func1": "main.Map[...] (closure 1)",
		"slices.SortFunc[go.shape.[]a/b.Item,go.shape.int]":                       "slices.SortFunc[[]b.Item,int]",
		"main.(*List[go.shape.string]).Push":                                      "main.(*List[string]).Push",
		"main.F[go.shape.map[string]example.com/x.T]":                             "main.F[map[string]x.T]",
		"main.F[go.shape.struct { A int; B string; C []byte; D map[string]int }]": "main.F[…]",
		"gopkg.in/yaml%2ev3.Unmarshal":                                            "gopkg.in/yaml.v3.Unmarshal",
		"gopkg.in/yaml%2ev3.(*d).f.func1":                                         "gopkg.in/yaml.v3.(*d).f (closure 1)",

		// Other names stay unchanged.
		"":                       "",
		"main.func1":             "main.func1",
		"main.functional":        "main.functional",
		"main.wrapped.Value":     "main.wrapped.Value",
		"main.run.func1.named":   "main.run.func1.named",
		"main.f-rangefinder":     "main.f-rangefinder",
		"broken[name.func1":      "broken[name.func1",
		"std::sort<int>(func1)":  "std::sort<int>(func1)",
		"operator[]":             "operator[]",
		"[libc-2.31.so]":         "[libc-2.31.so]",
		"type:.eq.main.T-range":  "type:.eq.main.T-range",
		"__memcpy_avx-unaligned": "__memcpy_avx-unaligned",
		"main.unescaped%zz.func": "main.unescaped%zz.func",
	} {
		if got := symbol.Readable(name); got != want {
			t.Errorf("ReadableName(%q) = %q, want %q", name, got, want)
		}
	}
}

// Whatever the name of a function, the result is text, never a panic; a name without anything to
// rewrite is returned unchanged.
func TestReadableNameOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{".", "..", "func1", "glob", "-fm", "-range1", "[", "]", "(*T)", "(", ")", "a/b", "%2e", "%", "2", "gowrap1", "F", "é"}), 0, 9).Draw(t, "pieces")
		name := strings.Join(pieces, "")
		got := symbol.Readable(name)
		if (got == "") != (name == "") {
			t.Fatalf("ReadableName(%q) = %q", name, got)
		}
		if name := strings.NewReplacer("func", "f", "wrap", "w", "[", "", "]", "", "-", "", "%", "").Replace(name); symbol.Readable(name) != name {
			t.Fatalf("ReadableName(%q) = %q", name, symbol.Readable(name))
		}
	})
}

func ExampleReadable() {
	fmt.Println(symbol.Readable("net/http.(*Server).Serve.gowrap3"))
	fmt.Println(symbol.Readable("main.handler.func1.2"))
	fmt.Println(symbol.Readable("slices.SortFunc[go.shape.[]example.com/shop.Item]"))
	// Output:
	// net/http.(*Server).Serve (go statement 3)
	// main.handler (closure 1.2)
	// slices.SortFunc[[]shop.Item]
}

func TestShort(t *testing.T) {
	for name, want := range map[string]string{
		"fmt.Sprintf":                                     "fmt.Sprintf",
		"(*net/http.Client).Do":                           "(*http.Client).Do",
		"github.com/labstack/echo/v4.New":                 "echo.New",
		"(*github.com/go-chi/chi/v5.Mux).ServeHTTP":       "(*chi.Mux).ServeHTTP",
		"github.com/samber/lo.Filter[example.com/a/v2.T]": "lo.Filter[example.com/a/v2.T]",
		"example.com/app/v1beta.Parse":                    "v1beta.Parse",
		"example.com/a/v2.F /src/b/f.go:7":                "a.F /src/b/f.go:7",
		"/src/b/f.go":                                     "f.go",
		"v2.Parse":                                        "v2.Parse",
		"":                                                "",
	} {
		if got := symbol.Short(name); got != want {
			t.Errorf("Short(%q) = %q, want %q", name, got, want)
		}
	}
}
