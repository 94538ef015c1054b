package rewrite

import (
	"go/ast"
	"go/types"
	"strings"
)

// appendForms maps functions to those that append their result.
func appendForms() map[string]string {
	return map[string]string{
		"strconv.FormatInt": "AppendInt", "strconv.FormatUint": "AppendUint", "strconv.FormatFloat": "AppendFloat", "strconv.FormatBool": "AppendBool",
		"strconv.Quote": "AppendQuote", "strconv.Itoa": "AppendInt", "(time.Time).Format": "AppendFormat",
	}
}

// appendFormatted formats a number directly where its digits go: append(b, strconv.Itoa(n)...), and
// WriteString of one to a buffer.
func appendFormatted(s *site, n ast.Node) (*proposal, error) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return nil, nil
	}
	var format ast.Expr
	var dest, open, end string
	switch s.callee(call) {
	case "append":
		if len(call.Args) != 2 || !call.Ellipsis.IsValid() || !isBytes(s.typeOf(call.Args[0])) {
			return nil, nil
		}
		format, dest = call.Args[1], s.text(call.Args[0])
	case "(*bytes.Buffer).WriteString", "(*bufio.Writer).WriteString":
		to := call.Fun.(*ast.SelectorExpr).X
		if _, alone := s.parent(1).(*ast.ExprStmt); !alone || !s.pure(to) {
			return nil, nil
		}
		if s.pkg.Module == nil || s.pkg.Module.GoVersion == "" || olderThan(s.pkg.Module.GoVersion, 21) {
			return nil, nil // AvailableBuffer is newer
		}
		format, dest, open, end = call.Args[0], s.text(to)+".AvailableBuffer()", s.text(to)+".Write(", ")"
	default:
		return nil, nil
	}
	text, ok := s.appending(dest, format)
	if !ok {
		return nil, nil
	}
	return &proposal{edits: []edit{{call.Pos(), call.End(), open + text + end}}, risk: ByTypes, why: "it appends what the other function returns"}, nil
}

// appending returns the call that appends to dest what an expression returns; false unless it is a
// call of one of appendForms.
func (s *site) appending(dest string, e ast.Expr) (string, bool) {
	made, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return "", false
	}
	name := s.callee(made)
	form, ok := appendForms()[name]
	if !ok {
		return "", false
	}
	fun, ok := made.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	args := []string{dest}
	for _, a := range made.Args {
		args = append(args, s.text(a))
	}
	if name == "strconv.Itoa" {
		args = []string{dest, "int64(" + args[1] + ")", "10"}
	}
	return s.text(fun.X) + "." + form + "(" + strings.Join(args, ", ") + ")", true
}

// isBytes reports whether a type is []byte itself.
func isBytes(t types.Type) bool {
	slice, ok := types.Unalias(t).(*types.Slice)
	return ok && types.Identical(slice.Elem(), types.Typ[types.Byte])
}
