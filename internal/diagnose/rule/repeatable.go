package rule

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/gocode"
)

// InputsCounted is the evidence that holds what the counters of inputs say.
const InputsCounted = "inputs, counted"

// Repeatable are [Pure] functions, and others of the standard library and of known modules whose result follows from
// receiver and arguments, as profiles name them.
func Repeatable() []string {
	return append(Pure(),
		"regexp.Compile", "regexp.MustCompile", "regexp.MatchString", "regexp.Match", "regexp.MatchReader",
		"text/template.New", "text/template.(*Template).Parse", "text/template.(*Template).Funcs", "text/template.Must",
		"html/template.New", "html/template.(*Template).Parse", "html/template.(*Template).Funcs", "html/template.Must",
		"strings.NewReplacer", "strings.Join", "strings.SplitN", "strings.FieldsFunc", "strings.Map", "strings.ToValidUTF8",
		"strings.TrimFunc", "strings.EqualFold", "strings.Index", "strings.IndexByte", "strings.LastIndex", "strings.Count",
		"strings.Trim", "strings.TrimPrefix", "strings.TrimSuffix", "strings.TrimLeft", "strings.TrimRight", "bytes.ToLower", "bytes.ToUpper", "bytes.Split", "bytes.ReplaceAll",
		"net/textproto.CanonicalMIMEHeaderKey", "net/http.CanonicalHeaderKey", "mime.ParseMediaType", "mime.TypeByExtension",
		"fmt.Sprintf", "fmt.Sprint", "path.Match", "path/filepath.Match", "path/filepath.Rel", "time.LoadLocation",
		"encoding/pem.Decode", "crypto/x509.ParseCertificate", "crypto/x509.ParsePKCS8PrivateKey", "crypto/x509.ParsePKCS1PrivateKey",
		"crypto/x509.ParsePKIXPublicKey", "encoding/base64.(*Encoding).Decode", "net/url.ParseQuery", "net/url.ParseRequestURI",
		"go/parser.ParseExpr", "gopkg.in/yaml%2ev3.Unmarshal", "github.com/Knetic/govaluate.NewEvaluableExpression*",
		"github.com/casbin/govaluate.NewEvaluableExpression*", "github.com/google/uuid.Parse", "github.com/Masterminds/semver*.NewVersion",
		"github.com/Masterminds/semver*.NewConstraint", "github.com/robfig/cron*.ParseStandard", "github.com/golang-jwt/jwt*.Parse*FromPEM",
		"golang.org/x/text/language.Parse", "golang.org/x/text/language.MustParse", "golang.org/x/text/language.ParseAcceptLanguage",
		"golang.org/x/net/idna.(*Profile).ToASCII",
	)
}

// WritesNothing reports whether a function visibly does nothing but compute its results: it writes variables of its own
// alone, starts and waits for nothing, and calls only functions of its package of which the same holds, some of the standard library
// that write nothing, and the functions of [Repeatable]. What it cannot see through it refuses.
func WritesNothing(p *gocode.Place) bool { return writesNothing(p, false) }

// SeemsToWriteNothing is WritesNothing that trusts functions of other packages unless their names say otherwise (see [Asks]).
// What the profile shows below them has to be asked as well: see [Quiet].
func SeemsToWriteNothing(p *gocode.Place) bool { return writesNothing(p, true) }

func writesNothing(p *gocode.Place, trusts bool) bool {
	body := Body(p)
	if body == nil {
		return false
	}
	r := &iteration{Place: p, mine: map[types.Object]bool{}, picks: map[types.Object]bool{}, own: map[types.Object]bool{}, computes: true, trusts: trusts}
	if fn, ok := p.Func.(*ast.FuncDecl); ok {
		if self, ok := p.Info.Defs[fn.Name].(*types.Func); ok {
			r.calls = []*types.Func{self}
		}
	}
	r.declare(p.Func)
	r.walk(body)
	return r.why == ""
}

// SignatureOf returns the signature of the function around a place; nil when that is not known.
func SignatureOf(p *gocode.Place) *types.Signature {
	switch f := p.Func.(type) {
	case *ast.FuncDecl:
		if self, ok := p.Info.Defs[f.Name].(*types.Func); ok {
			return self.Signature()
		}
	case *ast.FuncLit:
		s, _ := p.TypeOf(f).(*types.Signature)
		return s
	}
	return nil
}
