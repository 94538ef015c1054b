// Package signatureverifiedagain finds signatures that are verified again though the same signature
// of the same text was verified before.
package signatureverifiedagain

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	leastCalls   = 100
	leastRepeats = 0.3
	// levels of callers of a verification whose inputs are compared.
	levels = 8
)

// Rule is signature-verified-again.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "signature-verified-again",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedInputs, rule.NeedCounts},
		Title: "Same signature verified again",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match overrides it with the share of calls whose input was seen before.
				Fraction:    rule.Fraction{Expect: 0.7, Low: 0.3, High: 1},
				Specificity: 1, // repeated-work would say less
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A service verifies the signature of a token for each request that carries it, or
that of a message when it arrives, when it is stored and when it is passed on.
The result depends only on the key, the text and the signature, which do not
change. Each time takes 30 to 200 µs for an elliptic curve, 20 to 50 for RSA; a
lookup in a map takes a tenth of a microsecond.

Remember what was verified: a cache with a size limit, by the whole token or by
a hash of key, text and signature. Check the expiry, and revocation if there is
any, on every call, and drop an entry when the token expires or the key is
withdrawn. Inside a program, mark a message as verified, in a type or a field
that only the verification sets.

It is fine where tokens are used once. The rule reports verifications below a
function that got the same text, or the same message, at least a hundred times
while inputs were counted, in a third of its calls and more. Real traffic may
have more tokens than the load of a recording.

Seen in the field: cerbos/cerbos#991 (tokens of requests), btcsuite/btcd#506
(each signature at arrival and again in a block).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, known: map[string]*again{}}
	return finder.Line{Start: finder.Frames(s.caller), Judge: s.judge}
}

type search struct {
	pass  *rule.Pass
	known map[string]*again // by the watched function
	lines map[gocode.Pos]found
}

// again is a function that gets what it verifies again.
type again struct {
	*inputs.Function
	different int64
	inRequest bool
}

// found is what is repeated at a line.
type found struct {
	*again
	verifier string
	repeats  float64 // share of the verifications
}

// caller returns the frame of the program nearest to a verification that is repeated; that of a
// dependency if there is none of the program; -1 for none.
func (s *search) caller(r *site.Row) int {
	v := -1
	for i, f := range r.Stack {
		if strings.HasPrefix(f.Function, "crypto/tls.") {
			return -1 // a handshake: connect-per-call
		}
		if verifies(f.Function) {
			v = i
		}
	}
	if v < 0 {
		return -1
	}
	var a *again
	verified := 1.0 // verifications per call of the function: few where it has a cache
	for i := v; i < min(len(r.Stack), v+1+levels) && a == nil; i++ {
		if i > v {
			if ran, ok := evidence.Executions(s.pass, *r.Stack[i]); ok {
				verified *= ran.PerCall
			}
		}
		a = s.repeated(r.Stack[i].Function)
	}
	if a == nil {
		return -1
	}
	repeats := 1 - float64(a.different)/(min(1, verified)*float64(a.Calls))
	if !(repeats >= leastRepeats) {
		return -1
	}
	at := -1
	for i := v + 1; i < len(r.Stack); i++ {
		k := r.Stack[i].Owner.Kind
		if k == gocode.Main || k == gocode.Dependency && at < 0 {
			at = i
		}
		if k == gocode.Main {
			break
		}
	}
	if at >= 0 {
		if s.lines == nil {
			s.lines = map[gocode.Pos]found{}
		}
		s.lines[gocode.Pos{File: r.Stack[at].File, Line: r.Stack[at].Line}] = found{a, r.Stack[v].Function, repeats}
	}
	return at
}

// repeated returns how a function repeats its inputs; nil if it does not, or was not watched.
func (s *search) repeated(name string) *again {
	a, seen := s.known[name]
	if !seen {
		a = s.look(s.pass.Inputs.Of(name))
		s.known[name] = a
	}
	return a
}

func (s *search) look(in *inputs.Function) *again {
	if in == nil || in.Calls < leastCalls || float64(in.Hashed) < 0.95*float64(in.Calls) {
		return nil
	}
	if in.Compared > 0 && float64(in.Same) < 0.9*float64(in.Compared) {
		return nil // what it verifies is not what it gets
	}
	a := &again{Function: in, different: in.Identical}
	if in.Stable > 0 {
		a.different = in.Stable // the receiver may change, its key does not
	}
	if float64(in.Texts) >= 0.95*float64(in.Calls) && s.getsText(in) {
		a.different = in.Different // of objects that are decoded from the text, only the addresses differ
	}
	if a.different <= 0 {
		return nil
	}
	if in.InRequest >= leastCalls && !in.Stopped {
		each := 1 - float64(in.PerRequest)/float64(in.InRequest)
		a.inRequest = each >= leastRepeats
	}
	return a
}

// getsText reports whether a function has a string or []byte as a parameter that was hashed: the
// text that it verifies.
func (s *search) getsText(in *inputs.Function) bool {
	place, ok := s.pass.Syntax.At(in.File, in.Line)
	if !ok {
		return false
	}
	signature := syntax.SignatureOf(place)
	if signature == nil || signature.Params().Len() != len(in.Params) {
		return false
	}
	for i, taken := range in.Params {
		if taken == inputs.ByValue && syntax.StringOrBytes(signature.Params().At(i).Type()) {
			return true
		}
	}
	return false
}

// verifies reports whether a function verifies a signature, by its name and its package.
func verifies(function string) bool {
	pkg := symbol.Package(function)
	name := strings.TrimPrefix(function, pkg)
	if strings.Contains(pkg, "/internal/") && !strings.HasPrefix(pkg, "crypto/") {
		return false
	}
	known := false
	for _, word := range []string{"crypto", "secp256k1", "ed25519", "ecdsa", "schnorr", "btcec", "bls", "jwt", "jose", "jws"} {
		known = known || strings.Contains(pkg, word)
	}
	if !known || strings.HasSuffix(path.Base(pkg), "bcrypt") {
		return false
	}
	name = name[strings.LastIndexByte(name, '.')+1:]
	for _, verb := range []string{"Verify", "CheckSignature", "Recover", "Ecrecover", "SigToPub"} {
		if strings.HasPrefix(name, verb) {
			return true
		}
	}
	return false
}

func (s *search) judge(c *finder.Case) bool {
	a, ok := s.lines[gocode.Pos{File: c.Site.File, Line: c.Site.Line}]
	if !ok || len(c.CPU) == 0 {
		return false
	}
	name := symbol.Short(funcname.Typed(a.Name))
	calls := units.Count(a.Calls) + " calls"
	if a.Stopped {
		calls = "the first " + calls
	}
	words := fmt.Sprintf("%s, with %s", calls, evidence.Different(units.Count(a.different)))
	c.Cause = fmt.Sprintf("%s verifies a signature again that it verified before: %s got the same input, %s. The result is the same as long as the key is.",
		symbol.Short(funcname.Typed(a.verifier)), name, words)
	if a.different == 1 && s.pass.Inputs.Requests > 0 {
		c.Cause += " All requests of the load had the same, as one client has."
	}
	c.Fix = "Keep what was verified in a cache with a size limit, by the whole token or a hash of key, text and signature, until it expires; check expiry and revocation on every call."
	if a.inRequest {
		c.Fix = "Verify once per request, and pass the result on. " + c.Fix
	}
	c.Fraction = &rule.Fraction{Expect: 0.95 * a.repeats, Low: 0.5 * a.repeats, High: a.repeats}
	c.Confidence = rule.Likely
	c.Callees = []string{a.verifier}
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.InputsCounted, Value: name + ": " + words})
	return true
}
