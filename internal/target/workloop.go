package target

import (
	"go/ast"
	"go/token"
	"slices"
)

// workLoops returns the bodies of a function's outermost loops that take work piece by piece: from
// a channel, or by a call with a name that clients of queues use. Each iteration is a unit of work,
// as a request is. There are no types here: a channel is whatever is declared as one in the same
// file.
func workLoops(file *ast.File, body *ast.BlockStmt) []*ast.BlockStmt {
	var out []*ast.BlockStmt
	var channels map[string]bool
	ast.Inspect(body, func(n ast.Node) bool {
		switch l := n.(type) {
		case *ast.FuncLit:
			return false // watched by itself
		case *ast.RangeStmt:
			if channels == nil {
				channels = channelNames(file)
			}
			if l.Value == nil && channels[lastName(l.X)] {
				out = append(out, l.Body)
			}
			return false
		case *ast.ForStmt:
			if receives(l.Body) {
				out = append(out, l.Body)
			}
			return false
		}
		return true
	})
	return out
}

// receives reports whether an iteration itself receives from a channel or asks a queue, not in an
// inner loop.
func receives(body *ast.BlockStmt) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch e := n.(type) {
		case *ast.FuncLit, *ast.ForStmt, *ast.RangeStmt:
			return false
		case *ast.UnaryExpr:
			found = found || e.Op == token.ARROW
		case *ast.CallExpr:
			if s, ok := e.Fun.(*ast.SelectorExpr); ok && slices.Contains([]string{
				"Recv", "RecvMsg", "Receive", "ReceiveMessage", "ReadMessage", "FetchMessage", "PollFetches", "NextMsg", "NextMessage", "BLPop", "BRPop",
			}, s.Sel.Name) {
				found = true
			}
		}
		return !found
	})
	return found
}

// channelNames are the names of parameters, fields and variables of a file that are declared as
// channels.
func channelNames(file *ast.File) map[string]bool {
	names := map[string]bool{}
	add := func(ids []*ast.Ident) {
		for _, id := range ids {
			names[id.Name] = true
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch d := n.(type) {
		case *ast.Field:
			if _, ok := d.Type.(*ast.ChanType); ok {
				add(d.Names)
			}
		case *ast.ValueSpec:
			if _, ok := d.Type.(*ast.ChanType); ok || len(d.Values) == 1 && makesChannel(d.Values[0]) {
				add(d.Names)
			}
		case *ast.AssignStmt:
			for i, right := range d.Rhs {
				if makesChannel(right) && len(d.Lhs) == len(d.Rhs) {
					names[lastName(d.Lhs[i])] = true
				}
			}
		}
		return true
	})
	delete(names, "")
	return names
}

// makesChannel reports whether an expression is make(chan T).
func makesChannel(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	_, ok = call.Args[0].(*ast.ChanType)
	return ok && lastName(call.Fun) == "make"
}

// lastName is the name of a variable, or of the field that is selected; "" of other expressions.
func lastName(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return ""
}
