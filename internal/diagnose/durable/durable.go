package durable

import (
	"go/ast"
	"go/constant"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

const (
	badger    = "github.com/dgraph-io/badger"
	bbolt     = "go.etcd.io/bbolt"
	goleveldb = "github.com/syndtr/goleveldb/leveldb"
	pebble    = "github.com/cockroachdb/pebble"
)

// Transactions are functions that run a function of the program in a transaction, and sync a file
// at its end, as profiles name them.
func Transactions() []string { return []string{bbolt + ".(*DB).Update", badger + "*.(*DB).Update"} }

// Writes are functions that write one entry or one batch, and sync a file if their options ask for
// it, as profiles name them.
func Writes() (names []string) {
	for _, f := range []string{"Put", "Delete", "Write"} {
		names = append(names, goleveldb+".(*DB)."+f)
	}
	for _, f := range []string{"Set", "Delete", "SingleDelete", "DeleteRange", "Merge", "Apply", "LogData"} {
		names = append(names, pebble+"*.(*DB)."+f)
	}
	return append(names, pebble+"*.(*Batch).Commit")
}

// Grouping reports whether a function belongs to a store that writes with one sync what several
// goroutines wait for.
func Grouping(function string) bool {
	return funcname.Match(function, goleveldb+"*", pebble+"*", badger+"*")
}

// Waits reports whether a call of one of [Transactions] or [Writes] waits for the disk.
func Waits(p *rule.Pass, place *gocode.Place, call *ast.CallExpr) bool {
	name := place.CalleeName(call)
	switch {
	case funcname.Match(name, funcname.TypedAll(Writes())...):
		return len(call.Args) > 0 && asks(place, call.Args[len(call.Args)-1], strings.Contains(name, pebble))
	case strings.Contains(name, bbolt):
		return !given(p, bbolt+".Options", "NoSync") && !given(p, bbolt+".DB", "NoSync")
	case strings.Contains(name, badger):
		_, version, _ := strings.Cut(name, badger)
		if !strings.HasPrefix(version, "/v3") && !strings.HasPrefix(version, "/v4") {
			return true // the default of older versions
		}
		version = version[:len("/v3")]
		return given(p, badger+version+".Options", "SyncWrites") || set(p, "("+badger+version+".Options).WithSyncWrites")
	}
	return false
}

// asks reports whether the options of a write ask for a sync. A store that syncs by default does so
// without options.
func asks(p *gocode.Place, options ast.Expr, byDefault bool) bool {
	switch e := ast.Unparen(syntax.Origin(p, options)).(type) {
	case *ast.SelectorExpr:
		return e.Sel.Name == "Sync" // a package variable
	case *ast.Ident:
		return byDefault && e.Name == "nil"
	default:
		if p.TypeOf(e) == nil {
			return false
		}
		name := strings.TrimPrefix(p.TypeOf(e).String(), "*")
		_, value := syntax.Field(p, e, name, "Sync")
		return value != nil && isTrue(p, value)
	}
}

func isTrue(p *gocode.Place, e ast.Expr) bool {
	c, ok := p.Const(e)
	return ok && c.Kind() == constant.Bool && constant.BoolVal(c)
}

// given reports whether the program sets a field to true, or to what is not a constant.
func given(p *rule.Pass, typ, field string) bool {
	for _, v := range p.Syntax.ValuesOf(typ, field) {
		if _, known := v.Const(v.Value); !known || isTrue(v.Place, v.Value) {
			return true
		}
	}
	return false
}

// set reports whether the program calls a setter with true, or with what is not a constant.
func set(p *rule.Pass, setter string) bool {
	for _, place := range p.Syntax.CallsOf(setter) {
		for _, call := range syntax.CallsOf(place, setter) {
			if _, known := place.Const(call.Args[0]); !known || isTrue(place, call.Args[0]) {
				return true
			}
		}
	}
	return false
}
