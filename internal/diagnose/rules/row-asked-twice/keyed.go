package rowaskedtwice

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/sqltext"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// command is a command of Redis, as far as the rule is concerned.
type command struct {
	verb string
	keys int    // how many arguments identify what it is about: a key, or one and a member
	unit string // of what it asks about or changes: "key", "field", "member"
}

// commands returns the commands by the methods of go-redis.
func commands() map[string]command {
	return map[string]command{
		"Exists": {"select", 1, "key"}, "Get": {"select", 1, "key"}, "GetEx": {"select", 1, "key"}, "HGetAll": {"select", 1, "key"},
		"SMembers": {"select", 1, "key"}, "Set": {"insert", 1, "key"}, "SetEx": {"insert", 1, "key"}, "Del": {"delete", 1, "key"},
		"Unlink": {"delete", 1, "key"}, "HExists": {"select", 2, "field"}, "HGet": {"select", 2, "field"}, "HSet": {"insert", 2, "field"},
		"HDel": {"delete", 2, "field"}, "SIsMember": {"select", 2, "member"}, "SAdd": {"insert", 2, "member"}, "SRem": {"delete", 2, "member"},
	}
}

// asksOnly reports whether a command only asks whether there is something.
func asksOnly(method string) bool {
	return slices.Contains([]string{"Exists", "HExists", "SIsMember"}, method)
}

// keyedAccess returns the command that a call sends to Redis; nil for other calls, and for several
// keys.
func (s *search) keyedAccess(p *gocode.Place, call *ast.CallExpr) *access {
	fn := p.Callee(call)
	to := syntax.Receiver(call)
	if fn == nil || fn.Pkg() == nil || fn.Signature().Recv() == nil || to == nil || call.Ellipsis.IsValid() || !redis(fn.Pkg().Path()) {
		return nil
	}
	c, ok := commands()[fn.Name()]
	if !ok || len(call.Args) < 1+c.keys || c.verb != "insert" && len(call.Args) != 1+c.keys || pipelined(p.TypeOf(to)) {
		return nil
	}
	keys := call.Args[1 : 1+c.keys]
	notation := make([]string, 0, 1+c.keys)
	for _, key := range keys {
		made := syntax.Origin(p, key)
		v := root(p, made)
		if v == nil {
			if _, constant := syntax.ConstString(p, key); !constant {
				return nil
			}
		}
		notation = append(notation, without(types.ExprString(made), v))
	}
	return &access{
		Access: &sqltext.Access{Verb: c.verb, Table: strings.Join(append(notation, c.unit), " "), Sums: asksOnly(fn.Name())},
		call:   call, keys: keys, unit: c.unit, asks: asksOnly(fn.Name()),
	}
}

// redis reports whether a package is one of go-redis.
func redis(path string) bool {
	return strings.HasPrefix(path, "github.com/redis/go-redis/") || strings.HasPrefix(path, "github.com/go-redis/redis/")
}

// pipelined reports whether a client collects commands and sends them together.
func pipelined(t types.Type) bool {
	return t != nil && (strings.HasSuffix(t.String(), "Pipeliner") || strings.HasSuffix(t.String(), "Pipeline") || strings.HasSuffix(t.String(), ".Tx"))
}

// without returns an expression as text, with a variable left out: how two functions make their
// keys is compared, not how they call what the keys are made of.
func without(text string, v *types.Var) string {
	if v == nil {
		return text
	}
	var out strings.Builder
	word := func(i int) bool {
		return i >= 0 && i < len(text) && (text[i] == '_' || text[i] >= '0' && text[i] <= '9' || text[i] >= 'A' && text[i] <= 'Z' || text[i] >= 'a' && text[i] <= 'z')
	}
	for rest := 0; ; {
		i := strings.Index(text[rest:], v.Name())
		if i < 0 {
			out.WriteString(text[rest:])
			return out.String()
		}
		i += rest
		out.WriteString(text[rest:i])
		rest = i + len(v.Name())
		if word(i-1) || word(rest) || i > 0 && text[i-1] == '.' {
			out.WriteString(v.Name())
			continue
		}
		out.WriteByte('?')
	}
}

// described says what a command asked about a key, and what to do instead.
func (f *pair) describeKeyed(first, second, name string) (cause, fix string) {
	unit := f.needless.unit
	if unit == resource || unit == object {
		cause = fmt.Sprintf("%s asks another service with %s only whether there is %s, and then asks for it with %s, whose answer says that as well: two round trips instead of one. Between the two it may be deleted.", name, first, indefinite(unit), second)
		if unit == object {
			return cause, "Drop the first request and compare the error of the second: NoSuchKey for a missing object. GetObject of minio-go returns it from the first Read or Stat."
		}
		return cause, "Drop the first request and test the status of the second: 404 means that there is nothing."
	}
	if f.by.reads() {
		cause = name + " asks Redis with " + first + " only whether a " + unit + " exists, and then reads it with " + second + ", which says that as well: two round trips instead of one. Between the two the " + unit + " may expire."
		return cause, "Drop the first command and test what the second returns: redis.Nil for a missing key or field, an empty list or map for the others."
	}
	cause = name + " asks Redis with " + first + " only whether a " + unit + " exists, and then changes it with " + second + ": two round trips instead of one. Between the two another client may change it."
	switch {
	case f.by.Verb == "delete":
		return cause, "Send only the second command: its result says how many it removed."
	case unit == "member":
		return cause, "Send only the second command: SADD returns how many members are new."
	case unit == "field":
		return cause, "Send only the write: HSETNX writes a missing field, and HSET returns how many fields are new."
	}
	return cause, "Send only the write: SET with NX writes a missing key, with XX one that exists, and says whether it did."
}

func indefinite(unit string) string {
	if unit == object {
		return "an " + unit
	}
	return "a " + unit
}

// sendsOther reports whether a call sends a command to Redis, or a request, that the rule does not
// know.
func sendsOther(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn != nil && slices.Contains([]string{"(*net/http.Client).Do", "(*net/http.Client).Post", "(*net/http.Client).PostForm", "net/http.Post", "net/http.PostForm"}, fn.FullName()) {
		return true
	}
	if fn == nil || fn.Pkg() == nil || !redis(fn.Pkg().Path()) || len(call.Args) == 0 {
		return false
	}
	t := p.TypeOf(call.Args[0])
	return contextual(t)
}
