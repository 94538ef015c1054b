package gocode

import (
	"context"
	"go/ast"
	"go/token"
	"go/types"
)

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

// Syntax loads the typed syntax of the named packages (import paths).
func (x *Index) Syntax(ctx context.Context, pkgs []string) (*Syntax, error) { panic("contract") }

// Syntax is the typed syntax of some packages.
type Syntax struct{}

// Place is the typed syntax around one line.
type Place struct {
	Fset *token.FileSet
	File *ast.File
	Info *types.Info
	Pkg  *types.Package
	Func ast.Node      // innermost *ast.FuncDecl or *ast.FuncLit that covers the line
	Decl *ast.FuncDecl // the declaration around it; nil in a package variable's initialiser
	Line int
	// Nodes are the nodes that begin on the line or span it inside Func, outermost first.
	Nodes []ast.Node
}

// At returns the syntax around a line; false when the package is not loaded or the line holds no code.
func (s *Syntax) At(file string, line int) (*Place, bool) { panic("contract") }

// Enclosing returns the path of nodes from the innermost that holds n outwards to Func.
func (p *Place) Enclosing(n ast.Node) []ast.Node { panic("contract") }

type packageFacts struct{}
