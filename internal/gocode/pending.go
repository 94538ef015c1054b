package gocode

import "context"

// Facts compiles the named packages (import paths) once with the optimiser log on, or reads the cache.
func (x *Index) Facts(ctx context.Context, pkgs []string) (*Facts, error) { panic("contract") }

// Facts are the compiler's decisions in some packages.
type Facts struct{}

// Pos is a file (as the profile names it, or with the same base) and line.
type Pos struct {
	File string
	Line int
	Col  int
}

// Fact is one decision of the compiler.
type Fact struct {
	Code    string // "escape", "leak", "canInlineFunction", "cannotInlineFunction", "cannotInlineCall", "copy", "isInBounds", …
	Message string // "make([]byte, n) escapes to heap", "moved to heap: buf", "cost 97 exceeds budget 80"
	Chain   []Pos  // outermost position first, then into inlined calls
	Flow    []FlowStep
}

// FlowStep is one step of an escape's explanation.
type FlowStep struct {
	Pos  Pos
	Text string // "from v (spill)", "flow: {heap} = &{storage for v}"
}

// At returns the facts whose outermost position is at that line of that file.
func (f *Facts) At(file string, line int) []Fact { panic("contract") }

// Packages tells which packages have facts, and for the others why not.
func (f *Facts) Packages() (have []string, lacking map[string]string) { panic("contract") }

type packageFacts struct{}
