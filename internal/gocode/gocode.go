package gocode

import (
	"context"
	"go/ast"
	"go/token"
	"go/types"
)

// Kind says whose code a frame is.
type Kind uint8

const (
	Unknown    Kind = iota // cgo, assembly without a file, stripped
	Main                   // the main module, or a module of the workspace
	Dependency             // another module
	Std                    // GOROOT
)

// Owner says who owns a frame. The package comes from the file, not from the
// symbol: an inlined closure keeps its caller's name.
type Owner struct {
	Kind    Kind
	Module  string // "github.com/go-chi/chi"; "" for Std
	Version string // "v3.3.4"; "" for Main and Std
	Package string // import path as far as it is known
	File    string // relative to the module's root ("middleware/compress.go"); for Std to GOROOT/src
}

// Config says which program's code to look at. Everything may be empty: then
// owners and sources are inferred from the frames' paths.
type Config struct {
	Dir        string   // of the target's package
	ImportPath string   // of the target's package
	Test       bool     // its test binary
	BuildFlags []string // the user's
	BuildInfo  string   // text of debug.BuildInfo of the binary
	CacheDir   string   // hone's cache, for compiler facts
	Progress   func(string)
}

// Index answers questions about the code of one program. Safe for concurrent use.
type Index struct{}

// Open prepares an index. It runs `go list` at most once and lazily; without a Go
// toolchain or sources it still answers what the paths alone show, and Notes says what is lacking.
func Open(ctx context.Context, c Config) (*Index, error) { panic("contract") }

// Notes lists what could not be had and why.
func (x *Index) Notes() []string { panic("contract") }

// Owner returns the owner of a frame, given its function and file as they stand in the profile.
func (x *Index) Owner(function, file string) Owner { panic("contract") }

// Source returns the local path of a frame's file, or an error that says where it was looked for.
func (x *Index) Source(file string) (string, error) { panic("contract") }

// Lines returns the source lines [from, to] (1-based) of a frame's file.
func (x *Index) Lines(file string, from, to int) ([]string, error) { panic("contract") }

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
