package slowinit

import (
	"cmp"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// work is a declaration that is expensive to initialise.
type work struct {
	gocode.Initial
	kind   kind
	weight float64 // about its microseconds
}

func (w work) line() int { return syntax.Line(w.Place, w.Node.Pos()) }

// kind is what an initialisation does.
type kind int

const (
	patterns kind = iota + 1
	templates
	decoding
	table
	computing
)

func (k kind) what() string {
	return map[kind]string{
		patterns: "compiles regular expressions", templates: "parses templates", decoding: "decodes data", table: "fills a map", computing: "computes values in a loop",
	}[k]
}

func (k kind) fix() string {
	switch k {
	case patterns:
		return "Compile each expression at first use: var re = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(…) })."
	case templates:
		return "Parse the templates at first use, in a function that sync.OnceValue wraps."
	case decoding:
		return "Decode the data at first use, in a function that sync.OnceValue wraps, or keep it in a form that needs no decoding."
	}
	return "Build the table at first use, in a function that sync.OnceValue wraps; or generate an array of constants, which the linker lays out."
}

// weights are about the microseconds that calls take.
var weights = []struct {
	names  []string
	kind   kind
	weight float64
}{
	{[]string{"regexp.MustCompile", "regexp.Compile", "regexp.MustCompilePOSIX"}, patterns, 10},
	{[]string{"(*text/template.Template).Parse*", "(*html/template.Template).Parse*", "text/template.Parse*", "html/template.Parse*"}, templates, 50},
	{[]string{"encoding/json.Unmarshal", "encoding/xml.Unmarshal", "*/yaml*.Unmarshal", "(*encoding/gob.Decoder).Decode", "compress/gzip.NewReader", "io.ReadAll",
		"(*encoding/base64.Encoding).DecodeString", "encoding/csv.NewReader"}, decoding, 500},
}

const (
	// leastWeight of a declaration that is named.
	leastWeight = 5
	// perLoop is how many iterations a loop is taken to have.
	perLoop = 100
	// perEntry is about how long an entry of a map takes, in microseconds.
	perEntry = 0.05
	// mostCalls is how deep calls of the package's functions are followed.
	mostCalls = 3
)

// expensive returns the declarations that look expensive, most expensive first.
func expensive(all []gocode.Initial) (found []work) {
	for _, in := range all {
		w := work{Initial: in}
		byKind := map[kind]float64{}
		weigh(in.Place, in.Node, 1, mostCalls, byKind)
		for k, weight := range byKind {
			w.weight += weight
			if w.kind == 0 || weight > byKind[w.kind] || weight == byKind[w.kind] && k < w.kind {
				w.kind = k
			}
		}
		if w.weight >= leastWeight {
			found = append(found, w)
		}
	}
	slices.SortStableFunc(found, func(a, b work) int { return cmp.Compare(b.weight, a.weight) })
	return found
}

// weigh adds up what the code of a node takes, by kind.
func weigh(p *gocode.Place, root ast.Node, times float64, depth int, to map[kind]float64) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			// It runs only if it is called here; functions for sync.OnceValue are not.
			return false
		case *ast.ForStmt:
			to[computing] += times * perLoop * perEntry
			weigh(p, n.Body, times*perLoop, depth, to)
			return false
		case *ast.RangeStmt:
			to[computing] += times * perLoop * perEntry
			weigh(p, n.Body, times*perLoop, depth, to)
			return false
		case *ast.CompositeLit:
			if t := p.TypeOf(n); t != nil {
				if _, ok := t.Underlying().(*types.Map); ok {
					to[table] += times * perEntry * float64(len(n.Elts))
				}
			}
		case *ast.CallExpr:
			if lit, ok := ast.Unparen(n.Fun).(*ast.FuncLit); ok { // func() T { … }()
				weigh(p, lit.Body, times, depth, to)
			}
			called(p, n, times, depth, to)
		}
		return true
	})
}

func called(p *gocode.Place, call *ast.CallExpr, times float64, depth int, to map[kind]float64) {
	name := p.CalleeName(call)
	for _, w := range weights {
		if funcname.Match(name, w.names...) {
			to[w.kind] += times * w.weight
			return
		}
	}
	if d := p.Declaration(p.Callee(call)); d != nil && d.Body != nil && depth > 0 {
		weigh(p.Entry(d), d.Body, times, depth-1, to)
	}
}
