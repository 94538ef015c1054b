package columnsunread

import (
	"cmp"
	"go/ast"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/sqltext"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// library is a package that fills structs from rows by reflection.
type library struct {
	path    string
	methods []string
}

func libraries() []library {
	return []library{
		{"github.com/jmoiron/sqlx", []string{"Select", "SelectContext", "Get", "GetContext", "StructScan"}},
		{"gorm.io/gorm", []string{"Find", "First", "Take", "Last"}},
		{"github.com/georgysavva/scany", []string{"Select", "Get", "ScanAll", "ScanOne"}},
		{"github.com/blockloop/scan", []string{"Rows", "Row", "RowsStrict", "RowStrict"}},
	}
}

// fills returns the struct of which a library makes a value for each row, with the columns by name;
// nil for other calls.
func fills(p *gocode.Place, call *ast.CallExpr, fn *types.Func) types.Type {
	if fn.Pkg() == nil || !slices.ContainsFunc(libraries(), func(l library) bool {
		return strings.HasPrefix(fn.Pkg().Path(), l.path) && slices.Contains(l.methods, fn.Name())
	}) {
		return nil
	}
	for _, arg := range call.Args {
		ptr, ok := p.TypeOf(arg).(*types.Pointer)
		if !ok || strings.HasPrefix(types.TypeString(ptr.Elem(), nil), "database/sql.") {
			continue
		}
		t := ptr.Elem()
		if elem := syntax.Elem(t); elem != nil {
			t = elem
		}
		t = syntax.Pointed(t)
		if _, ok := t.Underlying().(*types.Struct); ok {
			return t
		}
		return nil
	}
	return nil
}

// texts returns the fields of a struct for texts that a library fills: those of the columns that
// the query names. It returns none if it is not known which these are.
func (s *search) texts(p *gocode.Place, call *ast.CallExpr, of types.Type) (all []column) {
	named, ok := s.named(p, call)
	if !ok {
		return nil
	}
	t := of.Underlying().(*types.Struct)
	for i := range t.NumFields() {
		f := t.Field(i)
		name, _, _ := strings.Cut(reflect.StructTag(t.Tag(i)).Get("db"), ",")
		if !f.Exported() || !text(f.Type()) || name == "-" {
			continue
		}
		if named != nil && !slices.Contains(named, strings.ToLower(cmp.Or(name, f.Name()))) {
			continue
		}
		all = append(all, column{f, of})
	}
	return all
}

// named returns the columns that a query names; nil for all. ok is false if that is not known.
func (s *search) named(p *gocode.Place, call *ast.CallExpr) (columns []string, ok bool) {
	if composes(p, call) {
		return nil, s.wholeRows(p, call)
	}
	for _, arg := range call.Args {
		if !syntax.IsString(p, arg) {
			continue
		}
		ts := sqltext.Tokens(s.sql.Text(p, arg))
		from := slices.Index(ts, "from")
		if from < 0 || ts[0] != "select" {
			return nil, false
		}
		if slices.Contains(ts[:from], "*") {
			return nil, true
		}
		for _, part := range sqltext.Split(ts[1:from], ",") {
			columns = append(columns, part[len(part)-1])
		}
		return columns, true
	}
	return nil, false
}

// composes reports whether the library composes the query.
func composes(p *gocode.Place, call *ast.CallExpr) bool {
	return strings.HasPrefix(p.CalleeName(call), "(*gorm.io/gorm.DB).")
}

// wholeRows reports whether a chain of calls that composes a query leaves its columns alone.
func (s *search) wholeRows(p *gocode.Place, call *ast.CallExpr) bool {
	methods, ok := s.sql.Chain(p, call)
	return ok && !slices.ContainsFunc(methods, func(m string) bool {
		return !slices.Contains([]string{"Where", "Not", "Or", "Order", "Limit", "Offset", "WithContext", "Model", "Session", "Debug", "Unscoped", "Clauses", "Preload"}, m)
	})
}
