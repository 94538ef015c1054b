package fmtthenbytes

import (
	"fmt"
	"go/ast"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile/symbol"
)

// printed returns cause and fix for a text that is appended to a slice, printed by a function that
// can format it itself, or copied into a new buffer. printer is the function that formats the text.
func printed(p *gocode.Place, text ast.Expr, printer string) (cause, fix string, ok bool) {
	outer, is := syntax.Parent(p, text).(*ast.CallExpr)
	if !is || len(outer.Args) == 0 || ast.Unparen(outer.Args[len(outer.Args)-1]) != ast.Unparen(text) {
		return "", "", false
	}
	name := p.CalleeName(outer)
	variant := func(prefix string) string { return strings.Replace(printer, "Sprint", prefix, 1) }
	last := strings.HasSuffix(name, "ln")
	if last && printer != "fmt.Sprintf" {
		return "", "", false // the separators of the two differ
	}
	var by string
	switch {
	case name == "append" && len(outer.Args) == 2 && outer.Ellipsis.IsValid():
		to := syntax.Text(outer.Args[0])
		return fmt.Sprintf("%s makes a string that is appended to %s and discarded.", printer, to),
			fmt.Sprintf("Use %s(%s, …).", variant("Append"), to), true
	case name == "bytes.NewBufferString":
		return fmt.Sprintf("%s makes a string that is copied into a new buffer and discarded.", printer),
			fmt.Sprintf("Use bytes.NewBuffer(%s(nil, …)).", variant("Append")), true
	case len(outer.Args) == 2 && funcname.Match(name, "fmt.Fprint", "fmt.Fprintln"):
		by = fmt.Sprintf("%s(%s, …)", variant("Fprint"), syntax.Text(outer.Args[0]))
	case len(outer.Args) == 1 && funcname.Match(name, "fmt.Print", "fmt.Println"):
		by = variant("Print") + "(…)"
	case len(outer.Args) == 1 && printer == "fmt.Sprintf" && funcname.Match(name,
		"log.Print", "log.Println", "(*log.Logger).Print", "(*log.Logger).Println"):
		by = strings.TrimSuffix(syntax.Text(outer.Fun), "ln") + "f(…)"
		last = false // a logger ends each line itself
	default:
		return "", "", false
	}
	if last {
		by += `, with "\n" at the end of the format`
	}
	return fmt.Sprintf("%s makes a string that %s only copies.", printer, symbol.Short(name)), fmt.Sprintf("Use %s.", by), true
}
