// Package formattedmapkey finds texts that are built only to be keys of a map.
package formattedmapkey

import (
	"context"
	"fmt"
	"go/ast"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Rule is formatted-map-key.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "formatted-map-key",
		Kind:  rule.Alloc,
		Title: "Text formatted only to be the key of a map",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The rows are those of building the text. Hashing a struct of two or three fields
				// takes a few nanoseconds more than hashing one string, which sets the low end.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.6, High: 1},
				Specificity: 1, // sprintf-simple and format-then-append would only build it faster
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A map with several values for a key is often declared as map[string]T, and each
lookup formats the values into one text: fmt.Sprintf("%s:%d", user, id), a
concatenation, strconv.Itoa. That takes 50 to 400 ns and an allocation, where
the lookup itself takes 20.

A key may be any comparable type. Declare struct{ user string; id int } (or an
int, or a [32]byte) as the key and use the values directly: nothing is
formatted, nothing allocated, and two values can never run together into the
same text.

The text of a value that a function makes, such as its String method, is found as
well, if it is only a key: then a struct, a number or a 64-bit hash of the value
(hash/maphash) should be the key. In a map that is kept, such as a cache, the rule
reports only values that a struct can hold, because two may have the same hash.

It is fine where the text is needed: the rule leaves maps alone whose keys are
read back, that are encoded or passed to other functions, and texts that have
other uses. It also knows sync.Map, and follows the text into a function of the
package that uses it only as a key, if all its callers format one.

Seen in the field: google/cql#158 (431 ns became 20 ns); kiali/kiali#8335 and
prometheus/statsd_exporter#279 (keys of caches).`

// builders are functions that format values, as profiles name them.
func builders() []string {
	return []string{
		"fmt.Sprintf", "fmt.Sprint", "strconv.Itoa", "strconv.FormatInt", "strconv.FormatUint", "strconv.FormatBool",
		"encoding/hex.EncodeToString", "encoding/base64.(*Encoding).EncodeToString", "github.com/google/uuid.UUID.String",
		"net/netip.Addr.String", "net/netip.AddrPort.String", "strings.Join",
	}
}

const concatenation = "runtime.concatstring*"

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, functions: append(builders(), concatenation)}
	s.lines = finder.Remember(p, s.look)
	s.written = finder.Remember(p, s.ofValue)
	start := func(r *site.Row) int {
		if i := s.caller(r); i >= 0 {
			return i
		}
		return s.writes(r)
	}
	return finder.Line{Start: finder.Frames(start), Judge: s.judge}
}

type search struct {
	pass      *rule.Pass
	lines     *finder.Lines[key]
	written   *finder.Lines[written]
	functions []string
}

// key is a text that is only a map's key.
type key struct {
	place *gocode.Place
	text  ast.Expr
	parts []ast.Expr
	in    ast.Expr // the map
	alone bool     // nothing else on the line allocates
}

// caller returns the frame that builds such a text.
func (s *search) caller(r *site.Row) int {
	i := r.Owner
	if i < 0 || i >= len(r.Stack) {
		return -1
	}
	f := r.Stack[i]
	if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
		return -1
	}
	leaf := stacks.Leaf(r)
	if !leaf && !stacks.Calls(r, s.functions...) {
		return -1
	}
	if found := s.lines.At(f); found != nil && (!leaf || found.alone) {
		return i
	}
	return -1
}

// look returns the text on a line that is only a key.
func (s *search) look(f *site.Frame, p *gocode.Place) *key {
	if p.Decl == nil {
		return nil
	}
	for _, text := range texts(p) {
		parts, ok := partsOf(p, text)
		if !ok {
			continue
		}
		u := uses{search: s, frame: f, place: p}
		if !u.onlyKey(text, true) || u.in == nil {
			continue
		}
		return &key{place: p, text: text, parts: parts, in: u.in, alone: syntax.AllocatesOnly(p, text)}
	}
	return nil
}

// texts returns the expressions on the line that build a text, outermost first.
func texts(p *gocode.Place) []ast.Expr {
	var found []ast.Expr
	for _, call := range syntax.CallsOf(p, funcname.TypedAll(builders())...) {
		found = append(found, call)
	}
	for _, n := range p.Nodes {
		ast.Inspect(n, func(n ast.Node) bool {
			if b, ok := n.(*ast.BinaryExpr); ok && syntax.IsString(p, b) && syntax.Line(p, b.Pos()) == p.Line {
				if _, constant := p.Const(b); !constant {
					found = append(found, b)
				}
				return false
			}
			return true
		})
	}
	return found
}

func (s *search) judge(c *finder.Case) bool {
	k := s.lines.At(&c.Site.Frame)
	if k == nil {
		w := s.written.At(&c.Site.Frame)
		return w != nil && w.judge(c)
	}
	c.Callees = s.functions
	c.Cause = fmt.Sprintf("The text %s is built again for each lookup, only to be a key of %s.", syntax.Text(k.text), syntax.Text(k.in))
	if len(k.parts) == 1 {
		e := k.parts[0]
		t := syntax.TypeText(k.place, k.place.TypeOf(e))
		if slice, ok := ast.Unparen(e).(*ast.SliceExpr); ok && slice.Low == nil && slice.High == nil {
			if whole := syntax.TypeText(k.place, k.place.TypeOf(slice.X)); strings.HasPrefix(whole, "[") && !strings.HasPrefix(whole, "[]") {
				e, t = slice.X, whole
			}
		}
		c.Fix = fmt.Sprintf("Declare the map with the key type %s, and use %s itself as the key.", t, syntax.Text(e))
		if t == "[]byte" || t == "[]uint8" {
			c.Fix = fmt.Sprintf("Use the bytes themselves as the key: %s[string(%s)] does not even copy them for a lookup.", syntax.Text(k.in), syntax.Text(e))
		}
		return true
	}
	var fields []string
	for i, e := range k.parts {
		name := string(rune('a' + i))
		switch e := ast.Unparen(e).(type) {
		case *ast.Ident:
			name = e.Name
		case *ast.SelectorExpr:
			name = e.Sel.Name
		}
		fields = append(fields, strings.ToLower(name[:1])+name[1:]+" "+syntax.TypeText(k.place, k.place.TypeOf(e)))
	}
	key := fmt.Sprintf("struct{ %s }", strings.Join(fields, "; "))
	c.Fix = fmt.Sprintf("Declare the map with a struct as the key type, %s, and look it up by the values.", key)
	if isSyncMap(k.place.TypeOf(k.in)) {
		c.Fix = fmt.Sprintf("Use a struct as the key, %s: a sync.Map takes any comparable value.", key)
		// The struct is converted to an interface, which allocates.
		c.Fraction = &rule.Fraction{Expect: 0.7, Low: 0.4, High: 0.9}
	}
	return true
}
