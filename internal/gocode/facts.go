package gocode

import (
	"path"
	"sort"
	"strings"
)

// Facts holds the compiler's decisions in some packages. It is immutable, and safe for concurrent
// use.
type Facts struct {
	index   *Index
	files   map[string][]*factFile // by fileKey; a generic's file has one per package that instantiates it
	have    []string
	lacking map[string]string

	inner lazy[map[innerKey][]innerRecord] // records of inlined code, by the innermost position
}

// innerKey is a line of a file, which has a fileKey.
type innerKey struct {
	file string
	line int
}

type innerRecord struct {
	pkg    *packageFacts
	record *record
}

// Pos is a file (as the profile names it, or with the same base) and line.
type Pos struct {
	File string
	Line int
	Col  int // 1-based; 0 when not known
}

// Fact is one decision of the compiler.
//
// The codes are the compiler's (they are not documented; `grep -r logopt.LogOpt` in
// cmd/compile lists them), with one change: "escapes" and "escape" are both "escape".
//
//	escape                 "make([]byte, n) escapes to heap", "moved to heap: buf"; with Flow
//	leak                   "parameter p leaks to {heap} with derefs=0"; with Flow
//	canInlineFunction      "cost: 7"; at the function's name
//	cannotInlineFunction   "function too complex: cost 97 exceeds budget 80"
//	cannotInlineCall       why a call was not inlined though the function could be
//	copy                   "200 bytes"; of 128 bytes and more
//	isInBounds, isSliceInBounds, nilcheck   a check that was not proved away
//
// That something "does not escape" is not among them.
type Fact struct {
	Code    string
	Message string
	Chain   []Pos // outermost position first, then into inlined calls
	Flow    []FlowStep

	short bool // from the text log, which knows the outermost position only
}

// FlowStep is one step of an escape's explanation. Pos is the innermost position when the step
// happens in an inlined call (the outermost in facts from the text log).
type FlowStep struct {
	Pos  Pos
	Text string // "from v (spill)", "flow: {heap} = &{storage for v}"
}

// factFile holds the records of one package about one file, by line.
type factFile struct {
	pkg     *packageFacts
	records []record
}

// packageFacts are the facts from the compilation of one package, with strings in a table: the same
// few messages and files occur over and over.
type packageFacts struct {
	Package string
	Strings []string
	Records []record
}

// record is a Fact in a packageFacts; strings are indexes.
type record struct {
	Code, Message int
	Chain         []place
	Flow          []flow
	Short         bool
}

type place struct{ File, Line, Col int }

type flow struct {
	At   place
	Text int
}

// At returns the facts whose outermost position is at that line of that file. They include what the
// compiler reports about the body of a function that was inlined into the line, with its chain.
func (f *Facts) At(file string, line int) []Fact {
	var out []Fact
	key := f.index.fileKey(file)
	if f.index.distrusted(key) != "" {
		return nil
	}
	for _, ff := range f.files[key] {
		i := sort.Search(len(ff.records), func(i int) bool { return ff.records[i].Chain[0].Line >= line })
		for ; i < len(ff.records) && ff.records[i].Chain[0].Line == line; i++ {
			if fact := ff.pkg.fact(&ff.records[i]); !containsFact(out, fact) {
				out = append(out, fact)
			}
		}
	}
	return out
}

// AtChain returns the facts about an inlined stack: chain is the outermost position first, that is
// a pprof location's lines reversed. Columns count only where the chain has them. Facts from the
// compiler's text output know only the outermost position and match by it.
//
// A parameter of an inlined function that is moved to the heap is allocated at the call, but the
// compiler reports it at the declaration, one step further in. Such facts match too.
func (f *Facts) AtChain(chain []Pos) []Fact {
	if len(chain) == 0 {
		return nil
	}
	var out []Fact
	for _, fact := range f.At(chain[0].File, chain[0].Line) {
		inside := fact.Chain
		if len(inside) == len(chain)+1 && strings.HasPrefix(fact.Message, "moved to heap: ") {
			inside = inside[:len(chain)]
		}
		if fact.short || f.sameChain(inside, chain) {
			out = append(out, fact)
		}
	}
	return out
}

func (f *Facts) sameChain(a, b []Pos) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Line != b[i].Line || b[i].Col != 0 && a[i].Col != b[i].Col ||
			a[i].File != b[i].File && f.index.fileKey(a[i].File) != f.index.fileKey(b[i].File) {
			return false
		}
	}
	return true
}

// On returns what is known about the code on a line, wherever the compiler put it: the facts of At,
// and when they contain no escape, as for a closure that exists only inlined, the escapes at the
// places where the line's code was inlined. The chains of those are cut to the line itself.
func (f *Facts) On(file string, line int) []Fact {
	facts := f.At(file, line)
	for i := range facts {
		if facts[i].Code == "escape" {
			return facts
		}
	}
	key := f.index.fileKey(file)
	if f.index.distrusted(key) != "" {
		return nil
	}
	for _, in := range f.inlined()[innerKey{key, line}] {
		fact := in.pkg.fact(in.record)
		fact.Chain = fact.Chain[len(fact.Chain)-1:]
		if !containsFact(facts, fact) {
			facts = append(facts, fact)
		}
	}
	return facts
}

// inlined indexes the escapes in inlined code by their innermost position.
func (f *Facts) inlined() map[innerKey][]innerRecord {
	return f.inner.get(func() map[innerKey][]innerRecord {
		index := map[innerKey][]innerRecord{}
		for _, files := range f.files {
			for _, ff := range files {
				for i := range ff.records {
					r := &ff.records[i]
					if len(r.Chain) < 2 || ff.pkg.Strings[r.Code] != "escape" || r.Short {
						continue
					}
					last := r.Chain[len(r.Chain)-1]
					key := innerKey{f.index.fileKey(ff.pkg.Strings[last.File]), last.Line}
					index[key] = append(index[key], innerRecord{ff.pkg, r})
				}
			}
		}
		for _, list := range index { // maps have no order
			sort.Slice(list, func(i, j int) bool { return list[i].before(list[j]) })
		}
		return index
	})
}

func (a innerRecord) before(b innerRecord) bool {
	if a.pkg.Package != b.pkg.Package {
		return a.pkg.Package < b.pkg.Package
	}
	x, y := a.record.Chain[0], b.record.Chain[0]
	if x.Line != y.Line {
		return x.Line < y.Line
	}
	return x.Col < y.Col
}

// Packages lists which packages have facts, and for the others why not.
func (f *Facts) Packages() (have []string, lacking map[string]string) {
	lacking = make(map[string]string, len(f.lacking))
	for p, why := range f.lacking {
		lacking[p] = why
	}
	return append([]string(nil), f.have...), lacking
}

// add indexes the facts of a package.
func (f *Facts) add(p *packageFacts) {
	f.have = append(f.have, p.Package)
	byFile := map[int]*factFile{}
	for _, r := range p.Records {
		file := r.Chain[0].File
		ff := byFile[file]
		if ff == nil {
			ff = &factFile{pkg: p}
			byFile[file] = ff
			key := f.index.fileKey(p.Strings[file])
			f.files[key] = append(f.files[key], ff)
		}
		ff.records = append(ff.records, r)
	}
	for _, ff := range byFile {
		sort.SliceStable(ff.records, func(i, j int) bool {
			a, b := ff.records[i].Chain[0], ff.records[j].Chain[0]
			return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col
		})
	}
}

// fact expands a record.
func (p *packageFacts) fact(r *record) Fact {
	f := Fact{Code: p.Strings[r.Code], Message: p.Strings[r.Message], short: r.Short}
	for _, c := range r.Chain {
		f.Chain = append(f.Chain, p.pos(c))
	}
	for _, s := range r.Flow {
		f.Flow = append(f.Flow, FlowStep{p.pos(s.At), p.Strings[s.Text]})
	}
	return f
}

func (p *packageFacts) pos(c place) Pos { return Pos{p.Strings[c.File], c.Line, c.Col} }

// valid reports whether all indexes are in range, for facts from a file.
func (p *packageFacts) valid() bool {
	n := len(p.Strings)
	ok := func(i int) bool { return 0 <= i && i < n }
	for _, r := range p.Records {
		if !ok(r.Code) || !ok(r.Message) || len(r.Chain) == 0 {
			return false
		}
		for _, c := range r.Chain {
			if !ok(c.File) {
				return false
			}
		}
		for _, s := range r.Flow {
			if !ok(s.At.File) || !ok(s.Text) {
				return false
			}
		}
	}
	return true
}

// containsFact reports whether a fact is there already, as it is for a generic function
// that several packages instantiate.
func containsFact(list []Fact, f Fact) bool {
	for _, g := range list {
		if g.Code != f.Code || g.Message != f.Message || len(g.Chain) != len(f.Chain) {
			continue
		}
		same := true
		for i := range g.Chain {
			same = same && g.Chain[i].Line == f.Chain[i].Line && g.Chain[i].Col == f.Chain[i].Col &&
				path.Base(slashed(g.Chain[i].File)) == path.Base(slashed(f.Chain[i].File))
		}
		if same {
			return true
		}
	}
	return false
}

// table builds a packageFacts.
type table struct {
	facts *packageFacts
	index map[string]int
}

func newTable(pkg string) *table {
	return &table{&packageFacts{Package: pkg}, map[string]int{}}
}

func (t *table) string(s string) int {
	i, ok := t.index[s]
	if !ok {
		i = len(t.facts.Strings)
		t.facts.Strings = append(t.facts.Strings, s)
		t.index[s] = i
	}
	return i
}

func (t *table) place(p Pos) place { return place{t.string(p.File), p.Line, p.Col} }

func (t *table) add(f Fact) {
	r := record{Code: t.string(f.Code), Message: t.string(f.Message), Short: f.short}
	for _, p := range f.Chain {
		r.Chain = append(r.Chain, t.place(p))
	}
	for _, s := range f.Flow {
		r.Flow = append(r.Flow, flow{t.place(s.Pos), t.string(s.Text)})
	}
	t.facts.Records = append(t.facts.Records, r)
}
