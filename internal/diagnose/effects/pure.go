package effects

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// PureFuncs are functions of the standard library, as profiles name them, whose result depends on
// their arguments alone: no state, no clock, no environment. Their results are values, or may be
// shared if nothing writes to them.
func PureFuncs() []string {
	return []string{
		"crypto/md5.Sum", "crypto/sha1.Sum", "crypto/sha256.Sum256", "crypto/sha512.Sum512",
		"encoding/base64.(*Encoding).DecodeString", "encoding/base64.(*Encoding).EncodeToString",
		"encoding/hex.DecodeString", "encoding/hex.EncodeToString",
		"hash/crc32.ChecksumIEEE",
		"html.EscapeString", "html.UnescapeString",
		"net.ParseCIDR", "net.ParseIP",
		"net/netip.MustParseAddr", "net/netip.MustParsePrefix", "net/netip.ParseAddr", "net/netip.ParsePrefix",
		"net/url.Parse", "net/url.PathEscape", "net/url.QueryEscape", "net/url.QueryUnescape",
		"path.Base", "path.Clean", "path.Dir", "path.Join",
		"path/filepath.Base", "path/filepath.Clean", "path/filepath.Dir", "path/filepath.Join",
		"regexp.QuoteMeta",
		"strconv.Atoi", "strconv.FormatFloat", "strconv.FormatInt", "strconv.FormatUint", "strconv.Itoa",
		"strconv.ParseFloat", "strconv.ParseInt", "strconv.ParseUint", "strconv.Quote", "strconv.Unquote",
		"strings.Fields", "strings.Repeat", "strings.Replace", "strings.ReplaceAll", "strings.Split",
		"strings.Title", "strings.ToLower", "strings.ToTitle", "strings.ToUpper", "strings.TrimSpace",
		"time.Parse", "time.ParseDuration",
	}
}

// DeterministicFuncs are [PureFuncs], and other functions of the standard library and of known
// modules whose result depends only on receiver and arguments, as profiles name them.
func DeterministicFuncs() []string {
	return append(PureFuncs(),
		"regexp.Compile", "regexp.MustCompile", "regexp.MatchString", "regexp.Match", "regexp.MatchReader",
		"text/template.New", "text/template.(*Template).Parse", "text/template.(*Template).Funcs", "text/template.Must",
		"html/template.New", "html/template.(*Template).Parse", "html/template.(*Template).Funcs", "html/template.Must",
		"strings.NewReplacer", "strings.Join", "strings.SplitN", "strings.FieldsFunc", "strings.Map", "strings.ToValidUTF8",
		"strings.TrimFunc", "strings.EqualFold", "strings.Index", "strings.IndexByte", "strings.LastIndex", "strings.Count",
		"strings.Trim", "strings.TrimPrefix", "strings.TrimSuffix", "strings.TrimLeft", "strings.TrimRight", "bytes.ToLower", "bytes.ToUpper", "bytes.Split", "bytes.ReplaceAll",
		"net/textproto.CanonicalMIMEHeaderKey", "net/http.CanonicalHeaderKey", "mime.ParseMediaType", "mime.TypeByExtension",
		"fmt.Sprintf", "fmt.Sprint", "path.Match", "path/filepath.Match", "path/filepath.Rel", "time.LoadLocation",
		"encoding/pem.Decode", "crypto/x509.ParseCertificate", "crypto/x509.ParsePKCS8PrivateKey", "crypto/x509.ParsePKCS1PrivateKey",
		"crypto/x509.ParsePKIXPublicKey", "crypto/x509.NewCertPool", "crypto/x509.(*CertPool).AppendCertsFromPEM", "crypto/tls.X509KeyPair", "encoding/base64.(*Encoding).Decode", "net/url.ParseQuery", "net/url.ParseRequestURI",
		"go/parser.ParseExpr", "gopkg.in/yaml%2ev3.Unmarshal", "github.com/Knetic/govaluate.NewEvaluableExpression*",
		"github.com/casbin/govaluate.NewEvaluableExpression*", "github.com/google/uuid.Parse", "github.com/Masterminds/semver*.NewVersion",
		"github.com/Masterminds/semver*.NewConstraint", "github.com/robfig/cron*.ParseStandard", "github.com/golang-jwt/jwt*.Parse*FromPEM",
		"golang.org/x/text/language.Parse", "golang.org/x/text/language.MustParse", "golang.org/x/text/language.ParseAcceptLanguage",
		"golang.org/x/net/idna.(*Profile).ToASCII",
		"crypto/aes.NewCipher", "crypto/cipher.NewGCM", "golang.org/x/crypto/chacha20poly1305.New*",
		"github.com/gobwas/glob.Compile", "github.com/gobwas/glob.MustCompile", "github.com/dlclark/regexp2*.Compile", "github.com/dlclark/regexp2*.MustCompile",
		"github.com/expr-lang/expr.Compile", "github.com/antonmedv/expr.Compile", "github.com/itchyny/gojq.Parse", "github.com/itchyny/gojq.Compile",
		"github.com/jmespath/go-jmespath.Compile", "github.com/antchfx/xpath.Compile", "github.com/PaesslerAG/jsonpath.New",
		"github.com/google/cel-go/cel.(*Env).Compile", "github.com/google/cel-go/cel.(*Env).Program", "github.com/google/cel-go/cel.NewEnv",
		"github.com/santhosh-tekuri/jsonschema*.(*Compiler).Compile", "github.com/xeipuuv/gojsonschema.NewSchema",
		"github.com/microcosm-cc/bluemonday.UGCPolicy", "github.com/microcosm-cc/bluemonday.StrictPolicy", "github.com/yuin/goldmark.New",
		"github.com/cbroglie/mustache.ParseString", "github.com/aymerick/raymond.Parse", "github.com/flosch/pongo2*.FromString",
		"github.com/hashicorp/go-version.NewVersion", "github.com/hashicorp/go-version.NewConstraint", "github.com/blang/semver*.Parse*",
		"golang.org/x/text/message.NewPrinter", "golang.org/x/text/collate.New", "github.com/go-playground/validator*.New",
	)
}

// requestReaders are functions of packages that otherwise act on the world, which only read the
// request, the header or the address that they are given, as profiles name them.
func requestReaders() []string {
	return []string{
		"net.SplitHostPort", "net.JoinHostPort", "net.ParseMAC", "net.IP.*", "net.(*IPNet).Contains", "net.(*IPNet).String",
		"net/http.StatusText", "net/http.DetectContentType", "net/http.ParseHTTPVersion", "net/http.ParseTime",
		"net/http.Header.Get", "net/http.Header.Values", "net/http.Header.Clone", "net/http.ResponseWriter.Header",
		"net/http.(*Request).UserAgent", "net/http.(*Request).Referer", "net/http.(*Request).Cookie", "net/http.(*Request).Cookies",
		"net/http.readCookies", "net/http.(*Request).CookiesNamed", "net/http.(*Request).PathValue", "net/http.(*Request).BasicAuth",
		"net/http.parseBasicAuth", "net/http.(*Request).Context", "net/http.(*Request).ProtoAtLeast", "net/http.(*response).Header",
		"net/url.(*URL).Query", "context.Context.Value", "context.Context.Err",
	}
}

// Pure reports whether a function visibly only computes its results: it writes only its own
// variables, starts and waits for nothing, and calls only functions of its package with the same
// property, some functions of the standard library that write nothing, and [DeterministicFuncs]. It
// reports false for what it cannot analyze.
func Pure(p *gocode.Place) bool { return pure(p, false, false) }

// LooksPure is [Pure], but trusts functions of other packages unless their names suggest side
// effects (see [Impure]). The profile must agree: see [PureBelow].
func LooksPure(p *gocode.Place) bool { return pure(p, true, false) }

// LooksPureLocked is LooksPure for a function that may lock and unlock mutexes.
func LooksPureLocked(p *gocode.Place) bool {
	return seen(p, iteration{computes: true, trusts: true, locked: true})
}

// LooksPureOfFiles is LooksPure for a function that may read files.
func LooksPureOfFiles(p *gocode.Place) bool { return pure(p, true, true) }

// ChangesNothing reports whether a function visibly changes only its own variables, by its syntax
// and that of the functions of its package that it calls. It assumes that code which it cannot
// analyze is harmless.
func ChangesNothing(p *gocode.Place) bool { return seen(p, iteration{computes: true, visible: true}) }

// OnlyReads is Pure for a function that may lock and unlock mutexes.
func OnlyReads(p *gocode.Place) bool { return seen(p, iteration{computes: true, locked: true}) }

func pure(p *gocode.Place, trusts, files bool) bool {
	return seen(p, iteration{computes: true, trusts: trusts, files: files})
}

func seen(p *gocode.Place, how iteration) bool {
	body := syntax.Body(p)
	if body == nil {
		return false
	}
	r := &how
	r.Place, r.mine, r.picks, r.own = p, map[types.Object]bool{}, map[types.Object]bool{}, map[types.Object]bool{}
	if fn, ok := p.Func.(*ast.FuncDecl); ok {
		if self, ok := p.Info.Defs[fn.Name].(*types.Func); ok {
			r.calls = []*types.Func{self}
		}
	}
	r.declare(p.Func)
	r.walk(body)
	return r.why == ""
}

// ReadsFiles reports whether a function reads the file system.
func ReadsFiles(fn *types.Func) bool {
	return fn.Pkg() != nil && (fn.Pkg().Path() == "os" || fn.Pkg().Path() == "io/fs" || fn.Pkg().Path() == "path/filepath") &&
		(strings.HasPrefix(fn.Name(), "Read") || fn.Name() == "Open" || fn.Name() == "Stat" || fn.Name() == "Glob")
}

// Changes reports whether a function is known to change something outside of its arguments, or has
// a name that suggests it.
func Changes(fn *types.Func) bool {
	if fn.Pkg() == nil {
		return false
	}
	switch fn.Pkg().Path() {
	case "os":
		return Impure(fn)
	case "fmt":
		return strings.HasPrefix(fn.Name(), "Print") || strings.HasPrefix(fn.Name(), "Fprint")
	case "log", "log/slog", "os/exec", "os/signal":
		return true
	}
	for _, word := range []string{"Exec", "Send", "Publish", "Insert", "Delete", "Save"} {
		if strings.HasPrefix(fn.Name(), word) {
			return true
		}
	}
	return false
}

// Impure reports whether a function is known to have side effects, or a result that differs from
// call to call.
func Impure(fn *types.Func) bool {
	if fn.Pkg() == nil {
		return fn.Name() != "Error"
	}
	name := fn.Name()
	switch path := fn.Pkg().Path(); path {
	case "os":
		return !ReadsFiles(fn) && name != "Getenv" && name != "LookupEnv" && name != "Close"
	case "time":
		return name == "Now" || name == "Since" || name == "Until" || name == "Sleep" || name == "After" || name == "Tick" || strings.HasPrefix(name, "New")
	case "fmt":
		return strings.HasPrefix(name, "Print") || strings.HasPrefix(name, "Scan")
	case "math/rand", "math/rand/v2", "crypto/rand", "net", "net/http", "database/sql", "os/exec", "os/signal", "syscall", "log", "log/slog", "context", "sync",
		"sync/atomic", "runtime", "runtime/debug", "runtime/metrics", "testing", "unique":
		return true
	}
	for _, word := range []string{"Rand", "Random", "Now", "Next", "Generate", "Query", "Exec", "Fetch", "Dial", "Send", "Recv", "Publish", "Wait", "Lock", "Unlock"} {
		if strings.HasPrefix(name, word) {
			return true
		}
	}
	return false
}

// Varies reports whether a call in a body asks for something that differs from call to call: the
// time, the runtime, random numbers, or other programs.
func Varies(p *gocode.Place, body ast.Node) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found {
			return !found
		}
		fn := p.Callee(call)
		if fn == nil || fn.Pkg() == nil {
			return true
		}
		switch fn.Pkg().Path() {
		case "runtime", "runtime/debug", "runtime/metrics", "math/rand", "math/rand/v2", "crypto/rand", "net", "net/http", "database/sql", "os", "os/exec", "syscall", "time":
			found = Impure(fn)
		}
		return !found
	})
	return found
}

// PureBelow reports whether the samples below a call show no side effects. They replace the syntax
// of other packages, which is not loaded. at is the index in a row's stack of the calling frame.
// file is true if the samples show that a file is read.
func PureBelow(rows []*site.Row, at func(*site.Row) int) (fine, file bool) {
	readers := requestReaders()
	for _, r := range rows {
		i := at(r)
		for j := range max(i, 0) {
			name := r.Stack[j].Function
			switch {
			case funcname.Match(name, readers...):
			case funcname.Match(name, "os.ReadFile", "os.Open", "os.OpenFile", "os.(*File).Read"):
				file = true
			case funcname.Match(name, "crypto/rand.*", "math/rand.*", "math/rand/v2.*", "crypto/internal/sysrand.*", "net.*", "net/http.*", "database/sql.*",
				"os.(*File).Write*", "time.Now", "time.Sleep", "runtime.chansend*", "runtime.chanrecv*", "runtime.selectgo", "os/exec.*",
				"runtime.ReadMemStats", "runtime.Stack", "runtime/metrics.Read", "runtime/debug.Read*", "runtime/pprof.*"):
				return false, file
			}
		}
	}
	return true, file
}
