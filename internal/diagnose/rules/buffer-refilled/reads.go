package bufferrefilled

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// longestVarint is how many bytes a number of encoding/binary has at most.
const longestVarint = 10

// reads returns the reader from which a call reads a few bytes, and how many: 0 for a line. It
// returns false for calls that read more, or an unknown number.
func reads(p *gocode.Place, call *ast.CallExpr) (from ast.Expr, n int64, ok bool) {
	switch p.CalleeName(call) {
	case "io.ReadFull", "io.ReadAtLeast":
		n = length(p, call.Args[1])
		return call.Args[0], n, n > 0
	case "encoding/binary.Read":
		n = size(p.TypeOf(call.Args[2]))
		return call.Args[0], n, n > 0
	case "encoding/binary.ReadUvarint", "encoding/binary.ReadVarint":
		return call.Args[0], longestVarint, true
	case "(*bufio.Reader).Read":
		n = length(p, call.Args[0])
		return syntax.Receiver(call), n, n > 0
	case "(*bufio.Reader).Peek":
		n, ok = syntax.ConstInt(p, call.Args[0])
		return syntax.Receiver(call), n, ok
	case "(*bufio.Reader).ReadByte", "(*bufio.Reader).ReadRune":
		return syntax.Receiver(call), 1, true
	case "(*bufio.Reader).ReadSlice", "(*bufio.Reader).ReadLine", "(*bufio.Reader).ReadBytes", "(*bufio.Reader).ReadString":
		return syntax.Receiver(call), 0, true
	}
	return nil, 0, false
}

// length returns the constant length of a slice of bytes; 0 when it is not known.
func length(p *gocode.Place, e ast.Expr) int64 {
	switch x := syntax.Origin(p, e).(type) {
	case *ast.SliceExpr:
		low := int64(0)
		if x.Low != nil {
			var ok bool
			if low, ok = syntax.ConstInt(p, x.Low); !ok {
				return 0
			}
		}
		if x.High != nil {
			high, _ := syntax.ConstInt(p, x.High)
			return max(high-low, 0)
		}
		return max(size(p.TypeOf(x.X))-low, 0)
	case *ast.CallExpr:
		if p.CalleeName(x) == "make" && len(x.Args) > 1 {
			n, _ := syntax.ConstInt(p, x.Args[1])
			return n
		}
	}
	return 0
}

// size returns the size of an array or a struct of plain data, or of what a pointer points to; 0
// for others.
func size(t types.Type) int64 {
	if t == nil {
		return 0
	}
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	switch t.Underlying().(type) {
	case *types.Array, *types.Struct:
	case *types.Basic:
		if types.Identical(t.Underlying(), types.Typ[types.String]) {
			return 0
		}
	default:
		return 0
	}
	if !syntax.PlainData(t) {
		return 0
	}
	return syntax.Sizes().Sizeof(t)
}
