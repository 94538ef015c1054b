package kept

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// readers are builtins and functions of the standard library that only read the lists and maps that
// they are given, as source names them.
var readers = []string{
	"len", "cap", "append", "min", "max", "new", "print", "println",
	"maps.All", "maps.Keys", "maps.Values", "maps.Clone", "maps.Collect", "maps.Equal*",
	"slices.All", "slices.Backward", "slices.BinarySearch*", "slices.Chunk", "slices.Clone", "slices.Collect", "slices.Compare*",
	"slices.Concat", "slices.Contains*", "slices.Equal*", "slices.Index*", "slices.IsSorted*", "slices.Max*", "slices.Min*",
	"slices.Repeat", "slices.Sorted*", "slices.Values",
	"sort.IntsAreSorted", "sort.StringsAreSorted", "sort.Float64sAreSorted", "sort.SliceIsSorted", "sort.Search*",
	"strings.Join", "bytes.Join", "bytes.Equal", "bytes.Contains*", "bytes.Index*", "bytes.NewReader", "reflect.DeepEqual",
	"fmt.Print*", "fmt.Fprint*", "fmt.Sprint*", "fmt.Append*", "fmt.Errorf", "log.*", "(*log.Logger).*", "log/slog.*", "(*log/slog.Logger).*",
	"golang.org/x/exp/maps.Keys", "golang.org/x/exp/maps.Values", "golang.org/x/exp/maps.Clone",
	"golang.org/x/exp/slices.Contains*", "golang.org/x/exp/slices.Index*", "golang.org/x/exp/slices.Clone", "golang.org/x/exp/slices.BinarySearch*",
	"github.com/samber/lo.Associate*", "github.com/samber/lo.Contains*", "github.com/samber/lo.Count*", "github.com/samber/lo.Every*",
	"github.com/samber/lo.Filter*", "github.com/samber/lo.Find*", "github.com/samber/lo.FlatMap", "github.com/samber/lo.ForEach*",
	"github.com/samber/lo.GroupBy*", "github.com/samber/lo.IndexOf", "github.com/samber/lo.KeyBy", "github.com/samber/lo.Keys",
	"github.com/samber/lo.Map*", "github.com/samber/lo.Max*", "github.com/samber/lo.Min*", "github.com/samber/lo.None*",
	"github.com/samber/lo.Reduce", "github.com/samber/lo.Some*", "github.com/samber/lo.Sum*", "github.com/samber/lo.Uniq*", "github.com/samber/lo.Values",
	"encoding/json.Unmarshal", "encoding/json.Valid", "encoding/xml.Unmarshal", "google.golang.org/protobuf/proto.Unmarshal",
	"gopkg.in/yaml.v*.Unmarshal", "github.com/goccy/go-json.Unmarshal*",
	"encoding/json.Marshal*", "(*encoding/json.Encoder).Encode", "encoding/xml.Marshal*", "encoding/gob.(*Encoder).Encode",
	"(*encoding/gob.Encoder).Encode", "encoding/binary.Write", "(io.Writer).Write", "(*bytes.Buffer).Write", "(*strings.Builder).Write",
	"(net/http.ResponseWriter).Write", "(*text/template.Template).Execute*", "(*html/template.Template).Execute*",
}

// deepest is the number of nested calls and variables that are followed.
const deepest = 4

// reading follows a list or map through functions of its package.
type reading struct {
	*gocode.Place
	seen []*types.Var  // parameters and local variables that hold it
	skip *ast.CallExpr // a call that does not count, nil for none
}

// Reads reports whether what stands around an expression only reads the elements of the list or map
// that it is: a function that gets it is one of the package that only reads it, or is known to.
// p must be the place of the whole function.
func Reads(p *gocode.Place, e ast.Expr) bool { return reading{Place: p}.value(e) }

// argument reports whether a call only reads its argument i: it is one of readers, or a function of
// the package whose body only reads the parameter.
func (r reading) argument(call *ast.CallExpr, i int) bool {
	name := r.CalleeName(call)
	if name == "copy" {
		return i == 1
	}
	if call == r.skip || funcname.Match(name, readers...) {
		return true
	}
	fn := r.Callee(call)
	decl := r.Declaration(fn)
	if decl == nil || decl.Body == nil {
		return false
	}
	params := fn.Signature().Params()
	if fn.Signature().Variadic() && i >= params.Len()-1 && !call.Ellipsis.IsValid() {
		return false // as an element of another list
	}
	return i < params.Len() && reading{r.Entry(decl), r.seen, r.skip}.variable(params.At(i))
}

// variable reports whether a function only reads what its parameter or local variable holds.
func (r reading) variable(v *types.Var) bool {
	if slices.Contains(r.seen, v) {
		return true // under way
	}
	if len(r.seen) >= deepest {
		return false
	}
	r.seen = append(slices.Clone(r.seen), v)
	for _, id := range syntax.Uses(r.Place, v) {
		if r.Info.Defs[id] == nil && !syntax.Defines(r.Place, id) && !r.value(id) {
			return false
		}
	}
	return true
}

// value reports whether what stands around an expression only reads the list that it is.
func (r reading) value(e ast.Expr) bool {
	is := func(x ast.Expr) bool { return x != nil && ast.Unparen(x) == ast.Unparen(e) }
	switch n := syntax.Parent(r.Place, e).(type) {
	case *ast.IndexExpr:
		return !is(n.X) || r.element(n)
	case *ast.SliceExpr:
		return !is(n.X) || r.value(n)
	case *ast.RangeStmt:
		return is(n.X)
	case *ast.BinaryExpr: // list == nil
		return true
	case *ast.CallExpr:
		if _, ok := r.Conversion(n); ok {
			return r.value(n)
		}
		i := slices.IndexFunc(n.Args, is)
		return i >= 0 && r.argument(n, i)
	case *ast.SelectorExpr:
		call, ok := syntax.Parent(r.Place, n).(*ast.CallExpr)
		if !ok || ast.Unparen(call.Fun) != n {
			return false
		}
		return r.method(call)
	case *ast.AssignStmt, *ast.ValueSpec:
		v := syntax.LocalVar(r.Place, syntax.AssignedTo(r.Place, e))
		return v != nil && r.variable(v)
	}
	return false
}

// method reports whether a method that is called only reads its receiver.
func (r reading) method(call *ast.CallExpr) bool {
	decl := r.Declaration(r.Callee(call))
	return decl != nil && decl.Body != nil && reading{r.Entry(decl), r.seen, r.skip}.receiver(decl)
}

// receiver reports whether a method only reads its receiver.
func (r reading) receiver(decl *ast.FuncDecl) bool {
	if decl.Recv == nil || len(decl.Recv.List) == 0 || len(decl.Recv.List[0].Names) == 0 {
		return true
	}
	v, ok := r.Object(decl.Recv.List[0].Names[0]).(*types.Var)
	return ok && r.variable(v)
}

// element reports whether an element, or a part of it, is only read.
func (r reading) element(e ast.Expr) bool {
	for {
		switch n := syntax.Parent(r.Place, e).(type) {
		case *ast.SelectorExpr:
			e = n
			continue
		case *ast.IndexExpr:
			if ast.Unparen(n.X) == ast.Unparen(e) {
				e = n
				continue
			}
		case *ast.StarExpr:
			e = n
			continue
		case *ast.IncDecStmt:
			return false
		case *ast.UnaryExpr:
			return n.Op != token.AND
		case *ast.SliceExpr:
			return ast.Unparen(n.X) != ast.Unparen(e) || r.value(n)
		}
		return !syntax.Defines(r.Place, e)
	}
}
