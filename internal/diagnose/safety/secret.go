package safety

import (
	"go/ast"
	"slices"
	"strings"
	"unicode"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// ConstantTime is the advice for comparing secrets: see [Secret].
const ConstantTime = "Compare the bytes with hmac.Equal (or crypto/subtle.ConstantTimeCompare), which needs no copy: other comparisons stop at the first difference, and their time shows how much of a guess was right."

// Secret reports whether an expression is a secret, by its names and by what created its value: an
// authentication code, a signature, a password, a session token.
func Secret(p *gocode.Place, e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			found = found || secretName(n.Name) || authenticates(p, syntax.Origin(p, n))
		case *ast.CallExpr:
			found = found || authenticates(p, n)
		}
		return !found
	})
	return found
}

// MakesSecret reports whether the function of the place creates a secret, by its name and those of
// its variables.
func MakesSecret(p *gocode.Place) bool {
	if p.Decl == nil {
		return false
	}
	found := secretName(p.Decl.Name.Name)
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && p.Info.Defs[id] != nil && secretName(id.Name)
		return !found
	})
	return found
}

// authenticates reports whether a call computes an authentication code: Sum of a result of
// hmac.New.
func authenticates(p *gocode.Place, e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || !strings.HasSuffix(p.CalleeName(call), ".Hash).Sum") {
		return false
	}
	made, ok := syntax.Origin(p, syntax.Receiver(call)).(*ast.CallExpr)
	return ok && p.CalleeName(made) == "crypto/hmac.New"
}

// secretName reports whether a word of a name says that the value is secret. A token is secret only
// with a word that says what it is for, because parsers have tokens too.
func secretName(name string) bool {
	words := wordsOf(name)
	for i, w := range words {
		switch w {
		case "mac", "hmac", "signature", "secret", "password", "passwd", "csrf", "otp", "nonce", "salt", "apikey":
			return true
		case "token", "key", "id":
			if i > 0 && slices.Contains([]string{"auth", "access", "session", "refresh", "api", "bearer", "reset"}, words[i-1]) {
				return true
			}
		}
	}
	return false
}

// wordsOf splits a name at underscores and changes of case, in lower case: "newAPIKey" is new, api,
// key.
func wordsOf(name string) []string {
	var words []string
	runes := []rune(name)
	start := 0
	cut := func(end int) {
		if end > start {
			words = append(words, strings.ToLower(string(runes[start:end])))
		}
		start = end
	}
	for i, r := range runes {
		switch {
		case r == '_':
			cut(i)
			start = i + 1
		case i > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			cut(i)
		}
	}
	cut(len(runes))
	return words
}
