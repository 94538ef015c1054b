package rewrite

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// piece is a part of a format's result: text, or a verb's argument as an expression of type string.
type piece struct {
	text string // literal
	expr string
	// if expr calls package strconv, conv is the package's name there, fun the function ("Itoa"),
	// and args its arguments ("n")
	conv, fun, args string
}

// appended returns the expression that appends a piece to a []byte.
func (p piece) appended(dest string) string {
	switch {
	case p.expr == "" && len(p.text) == 1 && p.text[0] >= ' ' && p.text[0] <= '~':
		return "append(" + dest + ", " + strconv.QuoteRune(rune(p.text[0])) + ")"
	case p.expr == "":
		return "append(" + dest + ", " + strconv.Quote(p.text) + "...)"
	case p.fun == "":
		return "append(" + dest + ", " + p.expr + "...)"
	case p.fun == "Itoa":
		return p.conv + ".AppendInt(" + dest + ", int64(" + p.args + "), 10)"
	}
	return p.conv + ".Append" + strings.TrimPrefix(p.fun, "Format") + "(" + dest + ", " + p.args + ")"
}

// sprintf replaces fmt.Sprintf with plain verbs and arguments of basic types by a concatenation.
// The types decide: a named type may have a String, Error or Format method, which fmt would call.
func sprintf(s *site, n ast.Node) (*proposal, error) {
	call, ok := n.(*ast.CallExpr)
	if !ok || call.Ellipsis.IsValid() {
		return nil, nil
	}
	var pieces []piece
	var err error
	switch s.callee(call) {
	case "fmt.Sprintf":
		pieces, err = s.pieces(call)
	default:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text := concatenation(pieces)
	if needsParens(s.parent(1)) && len(pieces) > 1 {
		text = "(" + text + ")"
	}
	return &proposal{edits: []edit{{call.Pos(), call.End(), text}}, risk: ByTypes,
		why: "all verbs are plain and all arguments of basic types, which have no methods for fmt to call"}, nil
}

// needsParens reports whether a sum there needs parentheses.
func needsParens(parent ast.Node) bool {
	switch parent.(type) {
	case *ast.IndexExpr, *ast.SliceExpr, *ast.SelectorExpr:
		return true
	}
	return false
}

func concatenation(pieces []piece) string {
	var parts []string
	for _, p := range pieces {
		if p.expr != "" {
			parts = append(parts, p.expr)
		} else {
			parts = append(parts, strconv.Quote(p.text))
		}
	}
	if len(parts) == 0 {
		return `""`
	}
	return strings.Join(parts, " + ")
}

var (
	errFormat    = errors.New("the format is not a constant")
	errArguments = errors.New("the format does not fit its arguments")
	errVerb      = errors.New("the format has a width, a flag or a verb that strconv does not have")
	errPlainType = errors.New("an argument's type is not basic: fmt may call a method of it, or print it in parts")
	errShadowed  = errors.New("another name hides the package strconv there")
)

// pieces splits a Sprintf into pieces.
func (s *site) pieces(call *ast.CallExpr) ([]piece, error) {
	tv := s.pkg.TypesInfo.Types[call.Args[0]]
	if tv.Value == nil || tv.Value.Kind() != constant.String {
		return nil, errFormat
	}
	format := constant.StringVal(tv.Value)
	args := call.Args[1:]
	var out []piece
	text := func(t string) {
		if len(out) > 0 && out[len(out)-1].expr == "" {
			out[len(out)-1].text += t
		} else if t != "" {
			out = append(out, piece{text: t})
		}
	}
	for {
		before, after, found := strings.Cut(format, "%")
		text(before)
		if !found {
			break
		}
		if after == "" {
			return nil, errArguments
		}
		verb := after[0]
		format = after[1:]
		if verb == '%' {
			text("%")
			continue
		}
		if len(args) == 0 {
			return nil, errArguments
		}
		p, err := s.formatted(verb, args[0])
		if err != nil {
			return nil, err
		}
		out = append(out, p)
		args = args[1:]
	}
	if len(args) > 0 {
		return nil, errArguments
	}
	return out, nil
}

// formatted returns the piece for an argument with a verb.
func (s *site) formatted(verb byte, arg ast.Expr) (piece, error) {
	basic, ok := types.Unalias(types.Default(s.typeOf(arg))).(*types.Basic)
	if !ok {
		return piece{}, errPlainType
	}
	conv, ok := s.qualify("strconv", arg.Pos())
	if !ok {
		return piece{}, errShadowed
	}
	text := s.text(arg)
	as := func(t types.BasicKind) string {
		if basic.Kind() == t {
			return text
		}
		return types.Typ[t].Name() + "(" + text + ")"
	}
	call := func(fun, args string) (piece, error) {
		return piece{expr: conv + "." + fun + "(" + args + ")", conv: conv, fun: fun, args: args}, nil
	}
	info := basic.Info()
	switch {
	case info&types.IsString != 0 && (verb == 's' || verb == 'v'):
		if !atom(arg) {
			text = "(" + text + ")"
		}
		return piece{expr: text}, nil
	case info&types.IsString != 0 && verb == 'q':
		return call("Quote", text)
	case basic.Kind() == types.Int && (verb == 'd' || verb == 'v'):
		return call("Itoa", text)
	case info&types.IsUnsigned != 0 && basic.Kind() != types.Uintptr && (verb == 'd' || verb == 'v'):
		return call("FormatUint", as(types.Uint64)+", 10")
	case info&types.IsUnsigned != 0 && basic.Kind() != types.Uintptr && verb == 'x':
		return call("FormatUint", as(types.Uint64)+", 16")
	case info&types.IsInteger != 0 && info&types.IsUnsigned == 0 && (verb == 'd' || verb == 'v'):
		return call("FormatInt", as(types.Int64)+", 10")
	case info&types.IsInteger != 0 && info&types.IsUnsigned == 0 && verb == 'x':
		return call("FormatInt", as(types.Int64)+", 16")
	case info&types.IsBoolean != 0 && (verb == 't' || verb == 'v'):
		return call("FormatBool", text)
	case basic.Kind() == types.Float64 && (verb == 'v' || verb == 'g'):
		return call("FormatFloat", text+", 'g', -1, 64")
	case basic.Kind() == types.Float32 && (verb == 'v' || verb == 'g'):
		return call("FormatFloat", "float64("+text+"), 'g', -1, 32")
	case basic.Info()&(types.IsString|types.IsInteger|types.IsBoolean|types.IsFloat) == 0:
		return piece{}, errPlainType
	}
	return piece{}, errVerb
}

// atom reports whether an expression can be an operand of a sum without parentheses.
func atom(e ast.Expr) bool {
	b, ok := e.(*ast.BinaryExpr)
	return !ok || b.Op == token.ADD
}

// appendf replaces []byte(fmt.Sprintf(…)) by fmt.Appendf(nil, …). Sprintf's bytes are never nil, so
// those of Appendf must not be nil either: the format must have text of its own.
func appendf(s *site, n ast.Node) (*proposal, error) {
	conv, ok := n.(*ast.CallExpr)
	if !ok || len(conv.Args) != 1 || !s.pkg.TypesInfo.Types[conv.Fun].IsType() {
		return nil, nil
	}
	slice, ok := s.typeOf(conv).(*types.Slice)
	if !ok || !types.Identical(slice.Elem(), types.Typ[types.Byte]) {
		return nil, nil
	}
	call, ok := ast.Unparen(conv.Args[0]).(*ast.CallExpr)
	if !ok || s.callee(call) != "fmt.Sprintf" || call.Ellipsis.IsValid() {
		return nil, nil
	}
	tv := s.pkg.TypesInfo.Types[call.Args[0]]
	if tv.Value == nil {
		return nil, errFormat
	}
	if format := constant.StringVal(tv.Value); strings.HasPrefix(format, "%") && !strings.HasPrefix(format, "%%") && !longEnough(format) {
		return nil, errors.New("the text may be empty, and then Appendf returns nil where []byte does not")
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil, nil
	}
	return &proposal{risk: ByTypes, why: "Appendf formats as Sprintf does, and the text is never empty", edits: []edit{
		{conv.Pos(), call.Pos(), ""},
		{sel.Sel.Pos(), sel.Sel.End(), "Appendf"},
		{call.Args[0].Pos(), call.Args[0].Pos(), "nil, "},
		{call.End(), conv.End(), ""},
	}}, nil
}

// longEnough reports whether a format has text outside of its verbs, or a verb that always prints
// something.
func longEnough(format string) bool {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			return true
		}
		for i++; i < len(format) && strings.IndexByte("+-# 0123456789.[]*", format[i]) >= 0; i++ {
		}
		if i < len(format) && strings.IndexByte("dqtbgeTp%", format[i]) >= 0 {
			return true
		}
	}
	return false
}

// fprintf replaces b.WriteString(fmt.Sprintf(…)) of a strings.Builder or bytes.Buffer by
// fmt.Fprintf(b, …).
func fprintf(s *site, n ast.Node) (*proposal, error) {
	stmt, ok := n.(*ast.ExprStmt)
	if !ok {
		return nil, nil
	}
	write, ok := stmt.X.(*ast.CallExpr)
	if !ok || len(write.Args) != 1 {
		return nil, nil
	}
	switch s.callee(write) {
	case "(*strings.Builder).WriteString", "(*bytes.Buffer).WriteString":
	default:
		return nil, nil
	}
	call, ok := ast.Unparen(write.Args[0]).(*ast.CallExpr)
	if !ok || s.callee(call) != "fmt.Sprintf" {
		return nil, nil
	}
	to := write.Fun.(*ast.SelectorExpr).X
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !s.pure(to) {
		return nil, nil
	}
	// While Fprintf formats, a method of an argument could write to the same buffer.
	for _, arg := range call.Args {
		if _, ok := types.Unalias(types.Default(s.typeOf(arg))).(*types.Basic); !ok {
			return nil, errPlainType
		}
	}
	target := s.text(to)
	if _, pointer := s.typeOf(to).Underlying().(*types.Pointer); !pointer {
		target = "&" + target
	}
	return &proposal{risk: ByTypes, why: "Fprintf formats as Sprintf does and writes once, and a buffer returns no error", edits: []edit{
		{write.Pos(), call.Pos(), ""},
		{sel.Sel.Pos(), sel.Sel.End(), "Fprintf"},
		{call.Args[0].Pos(), call.Args[0].Pos(), target + ", "},
		{call.End(), write.End(), ""},
	}}, nil
}
