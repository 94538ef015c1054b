package changed

import (
	"go/ast"
	"go/scanner"
	"go/token"
	"strings"
)

// function is a function or method with a body.
type function struct {
	file     *file
	decl     *ast.FuncDecl
	receiver string // the name of its type; "" for a function
	key      string // "F" or "T.F"

	around *scope // created when it is needed
}

// id is the same for the functions of two releases that have the same name.
func (f *function) id() string {
	p := f.file.pkg
	return strings.TrimPrefix(p.path, p.tree.release.Module) + "." + f.key
}

// title is the name as Go writes it: "(*T).F".
func (f *function) title() string {
	if f.receiver == "" {
		return f.decl.Name.Name
	}
	if _, pointer := f.decl.Recv.List[0].Type.(*ast.StarExpr); pointer {
		return "(*" + f.receiver + ")." + f.decl.Name.Name
	}
	return f.receiver + "." + f.decl.Name.Name
}

func (f *function) lines() (from, to int) {
	return f.file.line(f.decl.Pos()), f.file.line(f.decl.End())
}

// scope returns what is declared in the function.
func (f *function) scope() *scope {
	if f.around == nil {
		f.around = newScope(f)
	}
	return f.around
}

// tokens are the function's tokens, without those that only formatting adds.
func (f *function) tokens() []string {
	return f.file.tokens(f.decl.Pos(), f.decl.End(), nil)
}

func (f *file) line(p token.Pos) int {
	return f.pkg.tree.fset.Position(p).Line
}

// source is the text between two positions.
func (f *file) source(from, to token.Pos) []byte {
	set := f.pkg.tree.fset.File(from)
	if set == nil || !to.IsValid() {
		return nil
	}
	a, b := set.Offset(from), set.Offset(to)
	if a < 0 || a > b || b > len(f.src) {
		return nil
	}
	return f.src[a:b]
}

// text is the source of a node in one line.
func (f *file) text(n ast.Node) string {
	return strings.Join(strings.Fields(string(f.source(n.Pos(), n.End()))), " ")
}

// short is the source of a node in one line, cut after limit bytes.
func (f *file) short(n ast.Node, limit int) string {
	return cut(f.text(n), limit)
}

// cut shortens a text to about limit bytes, between characters.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	text = strings.ToValidUTF8(text[:limit-len("…")], "")
	return text + "…"
}

// tokens splits source into tokens, and replaces names that local reports.
func (f *file) tokens(from, to token.Pos, local func(name string) bool) (list []string) {
	src := f.source(from, to)
	set := token.NewFileSet()
	var s scanner.Scanner
	s.Init(set.AddFile("", -1, len(src)), src, func(token.Position, string) {}, 0)
	for {
		_, tok, lit := s.Scan()
		if tok == token.EOF {
			return list
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue
		}
		n := len(list)
		switch {
		case tok == token.IDENT && local != nil && (n == 0 || list[n-1] != ".") && local(lit):
			lit = "·"
		case tok == token.RBRACE && n > 1 && list[n-1] == "{" && list[n-2] == "interface":
			list = append(list[:n-2], "any")
			continue
		case !tok.IsLiteral():
			lit = tok.String()
		}
		if n > 0 && list[n-1] == "," && (lit == ")" || lit == "}" || lit == "]") {
			list = list[:n-1]
		}
		list = append(list, lit)
	}
}

// firstSentence returns the first sentence of the first comment that has one.
func firstSentence(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if g == nil {
			continue
		}
		if text := sentences(g.Text()); len(text) > 0 {
			return cut(text[0], 120)
		}
	}
	return ""
}

// sentences splits a comment. A period ends a sentence before a space and a capital letter, or at
// the end.
func sentences(text string) (list []string) {
	for para := range strings.SplitSeq(text, "\n\n") {
		para = strings.Join(strings.Fields(para), " ")
		for para != "" {
			end := sentenceEnd(para)
			list = append(list, strings.TrimSpace(para[:end]))
			para = strings.TrimSpace(para[end:])
		}
	}
	return list
}

func sentenceEnd(s string) int {
	for i := 0; i+2 < len(s); i++ {
		if (s[i] == '.' || s[i] == '!' || s[i] == '?') && s[i+1] == ' ' && s[i+2] >= 'A' && s[i+2] <= 'Z' {
			if !strings.HasSuffix(s[:i+1], "e.g.") && !strings.HasSuffix(s[:i+1], "i.e.") {
				return i + 1
			}
		}
	}
	return len(s)
}
