package formattedtocompare

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/codecs"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// deepest is the number of nested functions into which a text is followed, and of callers in which
// the decoding of the value is looked for.
const deepest = 3

// sums are functions that hash a text, as the type checker names them. A message authentication
// code is not one of them: who verifies it has to encode the value the same way.
var sums = []string{
	"crypto/md5.Sum", "crypto/sha1.Sum", "crypto/sha256.Sum*", "crypto/sha512.Sum*", "crypto/sha3.Sum*",
	"hash/crc32.Checksum*", "hash/crc64.Checksum", "hash/adler32.Checksum", "hash/maphash.Bytes", "hash/maphash.String",
	"github.com/cespare/xxhash*.Sum64*", "github.com/zeebo/xxh3.Hash*", "github.com/spaolacci/murmur3.Sum*", "github.com/twmb/murmur3.Sum*",
	"golang.org/x/crypto/blake2b.Sum*", "golang.org/x/crypto/sha3.Sum*",
}

// hashes are functions that create a hash, as the type checker names them.
var hashes = []string{
	"crypto/md5.New", "crypto/sha1.New", "crypto/sha256.New*", "crypto/sha512.New*", "crypto/sha3.New*",
	"hash/fnv.New*", "hash/crc32.New*", "hash/crc64.New", "hash/adler32.New",
	"github.com/cespare/xxhash*.New*", "github.com/zeebo/xxh3.New*", "github.com/spaolacci/murmur3.New*", "github.com/twmb/murmur3.New*",
	"golang.org/x/crypto/blake2b.New*", "golang.org/x/crypto/sha3.New*",
}

// hashed is a call that encodes a value into a text of which only the hash is used, or a comparison
// with another text:
//
//	text, err := yaml.Marshal(v); sum := sha256.Sum256(text)
//	json.NewEncoder(h).Encode(v)
type hashed struct {
	call     *ast.CallExpr
	value    ast.Expr
	by       string // what gets the text
	at       token.Pos
	compared bool
	source   *source // nil if the value is not seen to be decoded
}

// hashing returns the line for values that are encoded for a hash.
func hashing(p *rule.Pass) finder.Line {
	lines := finder.Remember(p, func(_ *site.Frame, place *gocode.Place) *hashed { return hashedAt(p.Syntax, place) })
	encoders := codecs.Encoders()
	start := func(r *site.Row) int {
		for i := len(r.Stack) - 1; i > 0; i-- { // the outermost encoder
			if !funcname.Match(r.Stack[i-1].Function, encoders...) {
				continue
			}
			for at := i; at <= i+1 && at < len(r.Stack); at++ { // also called by a function for it
				k := r.Stack[at].Owner.Kind
				if (k == gocode.Main || k == gocode.Dependency) && lines.At(r.Stack[at]) != nil {
					return at
				}
			}
		}
		return -1
	}
	return finder.Line{Start: finder.Frames(start), Judge: func(c *finder.Case) bool {
		found := lines.At(&c.Site.Frame)
		if found == nil {
			return false
		}
		c.Live = nil
		found.describe(c)
		return true
	}}
}

// hashedAt returns the call on a line whose text is only hashed or compared; nil for none.
func hashedAt(s *gocode.Syntax, place *gocode.Place) *hashed {
	if place.Decl == nil || place.Decl.Body == nil {
		return nil
	}
	p := place.Outer()
	for _, call := range syntax.Calls(place) {
		value := encoded(p, call)
		if value == nil {
			continue
		}
		h := &hashed{call: call, value: value}
		if !h.streamed(p) && (!returnsText(p.Callee(call)) || !h.only(p, call, deepest)) {
			continue
		}
		h.source = decoded(s, p, h.value, deepest)
		return h
	}
	return nil
}

// encoded returns the value that a call encodes, itself or by a function of the package that does
// nothing but return the text of its parameter, and handle errors; nil for other calls.
func encoded(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	encoders := funcname.TypedAll(codecs.Encoders())
	if len(call.Args) == 0 {
		return nil
	}
	if funcname.Match(p.CalleeName(call), encoders...) {
		return call.Args[0]
	}
	fn := p.Callee(call)
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil || !returnsText(fn) {
		return nil
	}
	in := p.Entry(decl)
	var value ast.Expr
	other := false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		ret, ok := n.(*ast.ReturnStmt)
		if !ok || other {
			_, literal := n.(*ast.FuncLit)
			return !literal && !other
		}
		if len(ret.Results) == 0 || isNil(ret.Results[0]) {
			other = len(ret.Results) == 0
			return false
		}
		made, ok := syntax.Origin(in, ret.Results[0]).(*ast.CallExpr)
		if !ok || len(made.Args) == 0 || !funcname.Match(in.CalleeName(made), encoders...) || !returnsText(in.Callee(made)) {
			other = true
			return false
		}
		value = flow.ArgumentFor(in, call, syntax.LocalVar(in, made.Args[0]))
		return false
	})
	if other {
		return nil
	}
	return value
}

func isNil(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && id.Name == "nil"
}

// returnsText reports whether a function returns the text, and does not append it to another one.
func returnsText(fn *types.Func) bool {
	if fn == nil || fn.Signature().Results().Len() == 0 || strings.Contains(fn.Name(), "Append") {
		return false
	}
	text := fn.Signature().Results().At(0).Type().String()
	return text == "[]byte" || text == "string"
}

// streamed reports whether an encoder writes to a hash.
func (h *hashed) streamed(p *gocode.Place) bool {
	recv := syntax.Receiver(h.call)
	if recv == nil {
		return false
	}
	made, ok := syntax.Origin(p, recv).(*ast.CallExpr)
	if !ok || !strings.HasSuffix(p.CalleeName(made), ".NewEncoder") || len(made.Args) == 0 || !isHash(p, made.Args[0]) {
		return false
	}
	h.by, h.at = "the hash "+syntax.Text(made.Args[0]), made.Args[0].Pos()
	return true
}

// isHash reports whether an expression is a hash that the function created.
func isHash(p *gocode.Place, e ast.Expr) bool {
	made, ok := syntax.Origin(p, e).(*ast.CallExpr)
	return ok && funcname.Match(p.CalleeName(made), hashes...)
}

// only reports whether the text that an expression returns is only hashed or compared.
func (h *hashed) only(p *gocode.Place, e ast.Expr, levels int) bool {
	switch up := syntax.Parent(p, e).(type) {
	case *ast.ParenExpr:
		return h.only(p, up, levels)
	case *ast.AssignStmt, *ast.ValueSpec:
		v := syntax.LocalVar(p, syntax.OrBad(syntax.AssignedTo(p, e)))
		return v != nil && h.uses(p, v, levels)
	case *ast.BinaryExpr:
		_, x := p.Const(up.X)
		_, y := p.Const(up.Y)
		if up.Op != token.EQL && up.Op != token.NEQ || x || y {
			return false
		}
		h.by, h.at, h.compared = "the comparison", up.OpPos, true
		return true
	case *ast.CallExpr:
		if _, conversion := p.Conversion(up); conversion {
			return h.only(p, up, levels)
		}
		return h.taken(p, up, e, levels)
	}
	return false
}

// uses is [hashed.only] for all uses of a variable.
func (h *hashed) uses(p *gocode.Place, v *types.Var, levels int) bool {
	reads := syntax.Reads(p, v)
	for _, id := range reads {
		if !h.only(p, id, levels) {
			return false
		}
	}
	return len(reads) > 0 && levels > 0
}

// taken reports whether a call that gets the text hashes or compares it.
func (h *hashed) taken(p *gocode.Place, call *ast.CallExpr, e ast.Expr, levels int) bool {
	i := slices.IndexFunc(call.Args, func(arg ast.Expr) bool { return ast.Unparen(arg) == ast.Unparen(e) })
	name := p.CalleeName(call)
	recv := syntax.Receiver(call)
	switch {
	case i < 0:
		return false
	case funcname.Match(name, sums...):
		h.by, h.at = symbol.Short(name), call.Pos()
		return true
	case recv != nil && len(call.Args) == 1 && strings.HasPrefix(lastName(name), "Write") && isHash(p, recv):
		h.by, h.at = "the hash "+syntax.Text(recv), call.Pos()
		return true
	case name == "io.WriteString" && isHash(p, call.Args[0]):
		h.by, h.at = "the hash "+syntax.Text(call.Args[0]), call.Pos()
		return true
	case name == "bytes.Equal":
		h.by, h.at, h.compared = "bytes.Equal", call.Pos(), true
		return true
	}
	fn := p.Callee(call)
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil || i >= fn.Signature().Params().Len() || fn.Signature().Variadic() {
		return false
	}
	in := p.Entry(decl)
	if !h.uses(in, fn.Signature().Params().At(i), levels-1) {
		return false
	}
	h.by, h.at = fn.Name(), call.Pos()
	return true
}

// lastName returns the name of a method without its type.
func lastName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

func (h *hashed) describe(c *finder.Case) {
	p := c.Place
	encoder, value := symbol.Short(p.CalleeName(h.call)), syntax.Text(h.value)
	if fn := p.Callee(h.call); fn != nil && fn.Pkg() == p.Pkg {
		encoder = fn.Name()
	}
	use := "to hash the text"
	if h.compared {
		use = "to compare the text"
	}
	c.Cause = fmt.Sprintf("%s encodes %s only %s: %s on line %d gets it, and it has no other use.", encoder, value, use, h.by, syntax.Line(p, h.at))
	if h.source == nil || h.source.changed {
		c.Confidence = rule.Hint // the encoding may be what makes equal values have equal texts
		c.Fraction = &rule.Fraction{Expect: 0.7, Low: 0.2, High: 0.95}
		if h.compared {
			c.Fix = fmt.Sprintf("Compare the values with a method Equal that compares the parts of %s, the most different one first (proto.Equal for messages); or keep a version that each change increments.", value)
			return
		}
		c.Fix = fmt.Sprintf("Write the fields of %s that decide to the hash; or keep a version that each change increments, and use that in place of the hash.", value)
		return
	}
	c.Confidence = rule.Likely // the same value may come in texts that differ
	c.Fraction = &rule.Fraction{Expect: 0.95, Low: 0.75, High: 1}
	s := h.source
	c.Cause += fmt.Sprintf(" The value was just decoded from %s, by %s on %s: the bytes that were received say the same, and need no encoding.", s.text, s.by, s.where)
	c.Fix = fmt.Sprintf("Hash %s, the bytes that were received, where they are decoded, and pass the sum on.", s.text)
	switch {
	case h.compared:
		c.Fix = fmt.Sprintf("Compare %s, the bytes that were received, or their hash, with those of the value that is kept.", s.text)
	case s.stream:
		c.Fix = fmt.Sprintf("Hash the bytes as they are read, with io.TeeReader(%s, h), and pass the sum on.", s.text)
	}
	c.Fix += " That also differs for equal values whose texts differ (in the order of fields or in spaces): where this must not count, write the fields that decide to the hash."
}
