// Package readtocopy finds input that is read whole only to be passed on.
package readtocopy

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is read-to-copy.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "read-to-copy",
		Kind:  rule.Alloc,
		Title: "Input read whole into memory only to be passed on",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// The rows are the buffers. io.Copy needs 32 KiB, or nothing with sendfile.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.8, High: 1},
				Specificity: 2, // more than the size of the buffer: no buffer
				Removes:     true,
			},
			Start: finder.Rows(func(s *site.Site) rule.Match {
				return finder.Take(s, buffers, readers()...)
			}),
			Judge: judge,
		},
	}
}

const doc = `io.ReadAll holds all of its input at a time, in buffers that it allocates while
it reads. When the text is then only written to a file, hashed, or sent on, a
buffer of 32 KiB is enough for input of any length. The memory of the program
grows with the size of the input times the number of requests.

Use io.Copy, with an io.MultiWriter for a file and a hash at the same time, an
io.TeeReader to hash what another function reads, and the reader itself as the
body of a request.

It is fine for short texts, and where the length must be known before the first
byte is written. The rule leaves alone texts that the function parses, returns,
keeps, or changes.

Seen in the field: mayth/go-simple-upload-server#34 (a 4.7 GB upload needed
3.8 GB of memory), evergreen-ci/evergreen#1417, asim/git-http-backend#3.`

func readers() []string {
	return []string{"io.ReadAll", "io/ioutil.ReadAll", "os.ReadFile", "io/ioutil.ReadFile"}
}

// buffers reports whether a row allocates or copies a reading function's memory, not reads into it.
func buffers(r *site.Row) bool {
	if !stacks.Calls(r, readers()...) {
		return false
	}
	for i := r.Owner - 1; i >= 0; i-- {
		if !funcname.Match(r.Stack[i].Function, append(readers(), "os.readFile*", "runtime.*")...) {
			return false // a reader's own
		}
	}
	return true
}

func judge(c *finder.Case) bool {
	for _, call := range syntax.CallsOf(c.Place, readers()...) {
		v := syntax.Result(c.Place, call)
		if v == nil {
			continue
		}
		sinks := passedOn(c.Place, v)
		if len(sinks) == 0 {
			continue
		}
		name := symbol.Short(c.Place.CalleeName(call))
		c.Cause = fmt.Sprintf("%s reads all input into memory, and %s only passes it on: to %s.", name, syntax.FuncName(c.Place), funcname.List(sinks))
		c.Fix = "Copy with io.Copy, which passes it on through 32 KiB."
		if strings.HasPrefix(sinks[0], "http.") || strings.HasPrefix(sinks[0], "(*http.Client)") {
			c.Fix = "Pass the reader itself as the body, and set ContentLength if it is known."
		}
		if len(sinks) > 1 {
			c.Fix = "Copy with io.Copy to an io.MultiWriter of both, which passes it on through 32 KiB."
		}
		return true
	}
	return false
}

// passedOn returns the functions that v is passed on to, if that is all that happens to it apart
// from len; nil otherwise.
func passedOn(p *gocode.Place, v *types.Var) (sinks []string) {
	for _, id := range syntax.Reads(p, v) {
		call, ok := syntax.Parent(p, id).(*ast.CallExpr)
		if !ok {
			return nil
		}
		text := ast.Expr(id)
		if wraps(p, call) {
			again := slices.ContainsFunc(loops.Around(p, call), func(loop ast.Node) bool { return !syntax.Inside(loop, v.Pos()) })
			if text, call = call, outside(p, call); call == nil || again { // a retry needs the text again
				return nil
			}
		}
		switch name := p.CalleeName(call); {
		case name == "len":
		case sink(p, call, text):
			sinks = append(sinks, symbol.Short(name))
		default:
			return nil
		}
	}
	return sinks
}

// wraps reports whether a call only turns bytes into a string or a reader of them.
func wraps(p *gocode.Place, call *ast.CallExpr) bool {
	if _, conversion := p.Conversion(call); conversion {
		return syntax.IsString(p, call)
	}
	return funcname.Match(p.CalleeName(call), "bytes.NewReader", "bytes.NewBuffer")
}

// outside returns the call that has another one as an argument; nil for none.
func outside(p *gocode.Place, call *ast.CallExpr) *ast.CallExpr {
	outer, ok := syntax.Parent(p, call).(*ast.CallExpr)
	if !ok || ast.Unparen(outer.Fun) == call {
		return nil
	}
	return outer
}

// sink reports whether a call passes bytes on as they are: Write of an io.Writer, a file, or a sum.
func sink(p *gocode.Place, call *ast.CallExpr, text ast.Expr) bool {
	name := p.CalleeName(call)
	if _, wrapped := text.(*ast.CallExpr); wrapped {
		return funcname.Match(name, "io.Copy", "io.WriteString", "net/http.NewRequest", "net/http.NewRequestWithContext", "net/http.Post", "(*net/http.Client).Post") &&
			len(call.Args) > 0 && ast.Unparen(call.Args[len(call.Args)-1]) == text || funcname.Match(name, "fmt.Fprint") && len(call.Args) == 2
	}
	if funcname.Match(name, "os.WriteFile", "io/ioutil.WriteFile", "crypto/*.Sum*", "crypto/md5.Sum", "crypto/sha1.Sum", "hash/crc32.ChecksumIEEE", "hash/crc32.Checksum") {
		return true
	}
	fn := p.Callee(call)
	if fn == nil || fn.Name() != "Write" || len(call.Args) != 1 || ast.Unparen(call.Args[0]) != text {
		return false
	}
	sig := fn.Signature()
	return sig.Recv() != nil && sig.Results().Len() == 2 && sig.Results().At(1).Type().String() == "error"
}
