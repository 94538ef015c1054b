package repeatedwork

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/site"
)

// provedCalls is the minimum number of compared results that proves repeated inputs.
const provedCalls = 100

// proved reports whether a function returned the same for each repeated input, often enough to
// assume that its result depends only on its input. The function may still change something: see
// onlyAnswers.
func proved(in *inputs.Function) bool {
	const (
		fewest = 50
		share  = 0.995 // only a sample of all inputs is compared, and a timeout may have changed one result
	)
	return in.Compared >= fewest && float64(in.Same) >= share*float64(in.Compared)
}

// answersTheSame reports whether both are true, so that the results may be kept.
func (s *search) answersTheSame(in *inputs.Function) bool { return proved(in) && s.onlyAnswers(in) }

// onlyAnswers reports whether a function's results may be kept, as far as is visible: it has a
// result that is worth keeping, its arguments are values, it calls no function argument, and
// neither its syntax nor its name says that it changes something. The result of a method of a
// mutable receiver must be more than a boolean or a number, which may be the same by chance.
func (s *search) onlyAnswers(in *inputs.Function) bool { return in.ByValue() && s.visiblyAnswers(in) }

// visiblyAnswers is onlyAnswers for arguments of any kind.
func (s *search) visiblyAnswers(in *inputs.Function) bool {
	if strings.Contains(in.Name, ".func") { // a function literal, whose purpose is unknown
		return false
	}
	place, ok := s.pass.Syntax.At(in.File, in.Line)
	if !ok {
		return false
	}
	signature := syntax.SignatureOf(place)
	if signature == nil || !answers(signature) || takesFunction(signature) || changes(in) {
		return false
	}
	return (signature.Recv() == nil || rich(signature)) && effects.ChangesNothing(place)
}

// readsUnchanged reports whether a function computes plain data from what a few pointers point at,
// such as a table from a style or a schema: their memory did not change, and it returned the same
// in a thousand calls. Copies are left out: they belong to the caller.
func (s *search) readsUnchanged(in *inputs.Function) bool {
	if in.ByValue() || !proved(in) || in.Compared < fewCalls || in.Identical > mostVariables || in.Identical != in.Stable {
		return false
	}
	place, ok := s.pass.Syntax.At(in.File, in.Line)
	if !ok || changes(in) || startsWith(in, "Clone", "Copy", "DeepCopy", "Snapshot", "New", "Make", "Get") {
		return false
	}
	signature := syntax.SignatureOf(place)
	if signature == nil || !answers(signature) || takesFunction(signature) || !rich(signature) {
		return false
	}
	for v := range signature.Results().Variables() {
		switch v.Type().Underlying().(type) {
		case *types.Basic, *types.Slice, *types.Map, *types.Array, *types.Struct:
		default: // an object that may have a state
			if !types.Identical(v.Type(), types.Universe.Lookup("error").Type()) {
				return false
			}
		}
	}
	return effects.ChangesNothing(place)
}

// walksAgain reports whether a function computes a value from what pointers or slices refer to,
// again for the same memory, within one unit of work: the memory did not change, it returned the
// same each time, and nobody but the function itself adds to what it returned. readsUnchanged is
// for fewer objects.
func (s *search) walksAgain(in *inputs.Function) bool {
	if in.ByValue() || !proved(in) || in.Compared < fewCalls || in.Identical != in.Stable || in.Identical <= mostVariables {
		return false
	}
	place, ok := s.pass.Syntax.At(in.File, in.Line)
	if !ok || changes(in) || startsWith(in, "Clone", "Copy", "DeepCopy", "Snapshot", "New", "Make") {
		return false
	}
	signature := syntax.SignatureOf(place)
	if signature == nil || takesFunction(signature) || !rich(signature) || !builtInside(place, signature) {
		return false
	}
	return effects.ChangesNothing(place) && s.quiet(in.Name)
}

// builtInside reports whether the results of a function are plain data, or objects of a type of its
// package that only the function itself changes by their methods.
func builtInside(p *gocode.Place, s *types.Signature) bool {
	for v := range s.Results().Variables() {
		t := v.Type()
		if types.Identical(t, types.Universe.Lookup("error").Type()) {
			continue
		}
		if ptr, ok := t.Underlying().(*types.Pointer); ok {
			t = ptr.Elem()
			if n, ok := types.Unalias(t).(*types.Named); !ok || n.Obj().Pkg() != p.Pkg || n.Obj().Exported() || changedOutside(p, n) {
				return false
			}
		}
		switch t.Underlying().(type) {
		case *types.Basic, *types.Slice, *types.Map, *types.Array, *types.Struct:
		default: // an object that may have a state
			return false
		}
	}
	return true
}

// changedOutside reports whether other functions of the package call methods on values of a type
// that change them by their use.
func changedOutside(p *gocode.Place, t *types.Named) bool {
	found := false
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || found {
				return !found
			}
			sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
			if !ok || syntax.Within(p.Decl, call) || !slices.Contains(workers(), sel.Sel.Name) {
				return true
			}
			recv := p.TypeOf(sel.X)
			if ptr, ok := recv.Underlying().(*types.Pointer); ok {
				recv = ptr.Elem()
			}
			named, ok := types.Unalias(recv).(*types.Named)
			found = ok && named.Obj() == t.Obj()
			return !found
		})
	}
	return found
}

// solvesAgain reports whether a recursion that calls functions which it is given, or reads what it
// has only the address of, returned the same for each of its few inputs in thousands of calls. What
// it returns are numbers, truth values and texts: values that whoever gets them cannot change.
func (s *search) solvesAgain(in *inputs.Function) bool {
	const fewest, perInput = 5000, 100
	if !proved(in) || in.Compared < fewest || in.Stable*perInput > in.Calls || changes(in) {
		return false
	}
	place, ok := s.pass.Syntax.At(in.File, in.Line)
	if !ok {
		return false
	}
	signature := syntax.SignatureOf(place)
	if signature == nil || !answers(signature) {
		return false
	}
	for v := range signature.Results().Variables() {
		if _, basic := v.Type().Underlying().(*types.Basic); !basic {
			return false
		}
	}
	return true
}

// makesWorker reports whether a function returns something that its user changes by using it, such
// as a writer or an encoder: each call has to create its own, or reuse one that is no longer used.
func makesWorker(s *types.Signature) bool {
	for v := range s.Results().Variables() {
		t := v.Type()
		if _, ok := t.Underlying().(*types.Interface); !ok {
			if _, pointer := t.(*types.Pointer); !pointer {
				t = types.NewPointer(t)
			}
		}
		methods := types.NewMethodSet(t)
		for _, name := range workers() {
			if methods.Lookup(nil, name) != nil {
				return true
			}
		}
	}
	return false
}

// workers are methods by which a value changes when it is used.
func workers() []string {
	return []string{"Write", "Read", "Close", "Reset", "Flush", "Encode", "Decode", "Next", "Scan", "Push", "Lock"}
}

// rich reports whether a result is a text, or is composed of values.
func rich(s *types.Signature) bool {
	for v := range s.Results().Variables() {
		switch t := v.Type().Underlying().(type) {
		case *types.Basic:
			if t.Info()&types.IsString != 0 {
				return true
			}
		case *types.Interface:
			if !types.Identical(v.Type(), types.Universe.Lookup("error").Type()) {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// changes reports whether the name of a function says that it changes something.
func changes(in *inputs.Function) bool {
	return startsWith(in, "Add", "Put", "Set", "Insert", "Store", "Save", "Write", "Update", "Delete", "Remove", "Register", "Record", "Push", "Append",
		"Inc", "Observe", "Log", "Emit", "Notify", "Send", "Publish", "Enqueue", "Apply", "Exec", "Commit", "Close", "Lock", "Unlock", "Acquire", "Release",
		"Post", "Upload", "Mark", "Touch", "Flush", "Sync", "Reset", "Pop", "Next", "Read", "Serve", "Handle", "Do", "Run", "Start", "Stop", "Wait", "Take", "Reserve")
}

// startsWith reports whether the name of a function, without package and receiver, starts with one
// of some words.
func startsWith(in *inputs.Function, words ...string) bool {
	name := in.Name[strings.LastIndexByte(in.Name, '.')+1:]
	return name != "" && slices.ContainsFunc(words, func(word string) bool {
		rest, ok := strings.CutPrefix(strings.ToUpper(name[:1])+name[1:], word)
		return ok && (rest == "" || rest[0] < 'a')
	})
}

// returnsTheSame reports whether results that say something stayed the same: not only an error, or
// yes or no.
func (s *search) returnsTheSame(in *inputs.Function) bool {
	if !proved(in) {
		return false
	}
	place, ok := s.pass.Syntax.At(in.File, in.Line)
	if !ok {
		return startsWith(in, "Marshal", "Format", "Parse", "Compile") // of the standard library, whose syntax is not loaded
	}
	signature := syntax.SignatureOf(place)
	return signature != nil && rich(signature)
}

// hashesSecrets reports whether a function hashes passwords or derives keys: slow by design, and
// not to be kept.
func hashesSecrets(in *inputs.Function) bool {
	return slices.ContainsFunc([]string{"bcrypt", "scrypt", "argon2", "pbkdf2", "blowfish"}, func(name string) bool { return strings.HasSuffix(in.Package, "/"+name) })
}

// allocatesOnly reports whether the cost of a function is only the memory that it allocates itself,
// and single objects that functions below it allocate: a constructor of a value to be filled
// returns the same each time, and must be called each time.
func (s *search) allocatesOnly(name string) bool {
	const most = 0.8
	var total, own int64
	for _, r := range s.costs[name].Rows {
		i := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.Function == name })
		if i < 0 {
			continue
		}
		total += r.Value
		object := func(f *site.Frame) bool { return f.Function == "runtime.newobject" }
		if i == 0 || strings.HasPrefix(r.Stack[i-1].Function, "runtime.") || slices.ContainsFunc(r.Stack[:i], object) {
			own += r.Value
		}
	}
	return float64(own) >= most*float64(total)
}

// asksWhom returns the words for what a function asks, as far as the profile shows.
func (s *search) asksWhom(name string) string {
	if s.below(name, "database/sql.*") && !s.below(name, "net/http.(*Client).*", invokes) {
		return "the database"
	}
	return "another service"
}

// travels returns the words for the round trip of a call, unless the profile shows that a database
// in the process answers.
func (s *search) travels(name string) string {
	if s.asksWhom(name) == "the database" && !s.below(name, "net.(*conn).*", "crypto/tls.(*Conn).*") {
		return ""
	}
	return " Each call is a round trip."
}

// below reports whether the profile shows that a function leads to one of others.
func (s *search) below(name string, others ...string) bool {
	return slices.ContainsFunc(s.costs[name].Rows, func(r *site.Row) bool {
		i := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.Function == name })
		return slices.ContainsFunc(r.Stack[:max(i, 0)], func(f *site.Frame) bool { return funcname.Match(f.Function, others...) })
	})
}

// asks reports whether the profile shows that a function sends a request to another service or a
// database.
func (s *search) asks(name string) bool {
	return s.below(name, "net/http.(*Client).*", "net/http.(*Transport).*", "database/sql.*", "net.(*conn).Write", invokes)
}
