package documentedcost

import (
	"go/ast"
	"go/types"
	"regexp"
	"strings"

	"github.com/hone-go/hone/internal/gocode"
)

// kind is what a sentence of a documentation says.
type kind int

const (
	slow   kind = iota // the function is expensive
	reuse              // what it creates is to be kept
	memory             // it needs much memory
)

// advice is a sentence of a documentation that is about the cost of a call.
type advice struct {
	kind     kind
	sentence string
	around   string // the sentence and the next one
	instead  string // another function of the package that the sentence names, if any
}

// reader finds sentences about costs.
type reader struct {
	paragraph, sentence, slow, reuse, memory, negated, argument, name *regexp.Regexp
}

func newReader() *reader {
	return &reader{
		paragraph: regexp.MustCompile(`\n\s*\n`),
		sentence:  regexp.MustCompile(`([.!;])\s+`),
		slow: regexp.MustCompile(`(?i)^(?:-?\s*(?:note|notice|warning|caution|important|however|but)[:,]?\s+(?:that\s+)?)?` +
			`(?:this|it|calling|transaction|(?:the |this )?(?:current )?(?:function|method|call|operation|implementation)|(?:each|every) call|FUNC)\b.{0,60}?` +
			`\b(?:is|are|be)\s+(?:(?:\w+ly|very|quite|rather|an?|much|also|more|somewhat|particularly)\s+)*(?:expensive|costly|slow|slower|inefficient)\b`),
		reuse: regexp.MustCompile(`(?i)\b(?:should|must|meant to|intended to)\s+(?:only\s+|be\s+|preferably\s+|normally\s+|generally\s+|usually\s+)*` +
			`(?:re-?used|cached|(?:created|built|compiled|parsed|constructed|initiali[sz]ed|opened) (?:only |just )?once)\b` +
			`|\bavoid (?:calling|creating|compiling) [^.]*(?:repeatedly|often|each|every|loop|hot path)\b` +
			`|\b(?:create|build|compile|parse|construct|open) (?:it|one|a single \w+|an instance) (?:only |just )?once\b`),
		memory:   regexp.MustCompile(`(?i)\b(?:will|may|can|could) (?:use|allocate|consume|require|need)\b[^.]*\bmemory\b`),
		negated:  regexp.MustCompile(`(?i)\b(?:not|isn't|won't|never|no longer|avoids|avoiding|without|faster|cheaper|more efficient|earlier|previous(?:ly)?|used to)\b`),
		argument: regexp.MustCompile(`['"\x60](-?\d+|nil|true|false)['"\x60]`),
		name:     regexp.MustCompile(`\b[A-Z]\w*\b`),
	}
}

// read returns the first sentence about the cost of a function in a documentation; nil for none.
func (r *reader) read(doc, function string) *advice {
	for _, paragraph := range r.paragraph.Split(doc, -1) {
		if strings.HasPrefix(paragraph, "\t") {
			continue // an example
		}
		text := strings.Join(strings.Fields(paragraph), " ")
		sentences := strings.Split(r.sentence.ReplaceAllString(text, "$1\n"), "\n")
		for i, s := range sentences {
			if a := r.about(s, function); a != nil {
				a.around = strings.Join(sentences[i:min(i+2, len(sentences))], " ")
				return a
			}
		}
	}
	return nil
}

func (r *reader) about(s, function string) *advice {
	subject := strings.ReplaceAll(s, function, "FUNC")
	switch {
	case r.says(r.slow, subject):
		return &advice{kind: slow, sentence: s}
	case r.says(r.reuse, s):
		return &advice{kind: reuse, sentence: s}
	case r.says(r.memory, s):
		return &advice{kind: memory, sentence: s}
	}
	return nil
}

// says reports whether a sentence matches, and denies nothing before the end of the match.
func (r *reader) says(pattern *regexp.Regexp, s string) bool {
	at := pattern.FindStringIndex(s)
	return at != nil && !r.negated.MatchString(s[:at[1]])
}

// applies reports whether a call has the argument that a sentence names, if it names one: '-1'.
func (r *reader) applies(p *gocode.Place, call *ast.CallExpr, a *advice) bool {
	named := r.argument.FindStringSubmatch(a.sentence)
	if named == nil {
		return true
	}
	for _, arg := range call.Args {
		if v, ok := p.Const(arg); ok && v.String() == named[1] {
			return true
		}
		if named[1] == "nil" && p.Info.Types[arg].IsNil() {
			return true
		}
	}
	return false
}

// alternative returns the function or method that sentences name, other than the one that they are
// about, if the package has it: a function of the package or a method of the same type.
func (r *reader) alternative(fn *types.Func, sentences string) string {
	for _, name := range r.name.FindAllString(sentences, -1) {
		if name == fn.Name() {
			continue
		}
		if other, ok := fn.Pkg().Scope().Lookup(name).(*types.Func); ok {
			return fn.Pkg().Name() + "." + other.Name()
		}
		if recv := fn.Signature().Recv(); recv != nil {
			obj, _, _ := types.LookupFieldOrMethod(recv.Type(), true, fn.Pkg(), name)
			if other, ok := obj.(*types.Func); ok {
				return other.Name()
			}
		}
	}
	return ""
}

// documentation returns what the source says about a function, and of a constructor also what it
// says about the type that it creates.
func documentation(place *gocode.Place, fn *types.Func) (texts []string) {
	texts = append(texts, place.Decl.Doc.Text())
	signature := fn.Signature()
	if signature.Recv() != nil || signature.Results().Len() == 0 {
		return texts
	}
	t := signature.Results().At(0).Type()
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() != fn.Pkg() {
		return texts
	}
	return append(texts, typeDoc(place, named.Obj().Name()))
}

// typeDoc returns the documentation of a type of the place's package.
func typeDoc(place *gocode.Place, name string) string {
	for _, f := range place.Files() {
		for _, d := range f.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range group.Specs {
				if t, ok := spec.(*ast.TypeSpec); !ok || t.Name.Name != name {
					continue
				} else if t.Doc != nil {
					return t.Doc.Text()
				}
				return group.Doc.Text()
			}
		}
	}
	return ""
}
