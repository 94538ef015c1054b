// Package tempfileperitem finds temporary files that are made for each of many small contents.
package tempfileperitem

import (
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is temp-file-per-item.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "temp-file-per-item",
		Kind:  rule.IO,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Temporary file for each of many contents",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// Contents that are too large for memory still need a file.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.4, High: 1},
				Specificity: 2,
				Removes:     true,
			},
			Lines: []finder.Line{
				{Start: finder.Calls{Functions: creators()}, Judge: judge},
				{Start: finder.Rows(using), Judge: judgeUse},
			},
		},
	}
}

const doc = `A program that writes a content to a temporary file, reads it back and removes the
file pays for a name in a directory each time: creating, opening, closing and
removing are system calls of 5 to 50 µs that lock the directory, and each write
and read copies the content into and out of the kernel. For a few kilobytes that
is a hundred times the cost of the copy.

Keep contents in memory up to a limit, in a bytes.Buffer that is reused, and move
to a file only what grows beyond it, as mime/multipart does. If a file is needed,
keep one per worker: Truncate it and Seek to its start.

It is fine for contents that do not fit into memory, and where another process
reads the file or it is renamed to its final name. The rule reports files that
are made for at least one request in twenty, or a hundred times in each run of a
program that exits, in packages that remove files, rename none and start no
process.

Seen in the field: saracen/fastzip#19 (small entries of an archive kept in a
buffer).`

// creators are the functions that make a temporary file or directory, as profiles name them.
func creators() []string {
	return []string{"os.CreateTemp", "os.MkdirTemp", "io/ioutil.TempFile", "io/ioutil.TempDir"}
}

func judge(c *finder.Case) bool { return describe(c, c.Calls[0]) }

// describe judges a call that makes a temporary file, in the function of a case.
func describe(c *finder.Case, made *ast.CallExpr) bool {
	if !loops.PerCall(c.Place, made) {
		return false
	}
	e, ok := evidence.ExecutionsAt(c.Pass, c.Place, made.Pos())
	if !ok || !evidence.Hot(c.Pass, e) || !shortLived(c.Place) {
		return false
	}
	c.Confidence = rule.Likely // how large the contents may be is not known
	c.Cause = fmt.Sprintf("%s makes a temporary file, %s per %s, that the program removes again: several system calls each time that lock the directory.",
		symbol.Short(c.Place.CalleeName(made)), evidence.Times(e.PerUnit), c.Pass.Manifest.Unit())
	c.Fix = "Keep contents in memory up to a limit, in a bytes.Buffer that is reused, and use a file only for those beyond it; or keep one file per worker and Truncate it."
	return true
}

// shortLived reports whether a package removes its files, and neither renames them nor starts a
// process that could read them.
func shortLived(p *gocode.Place) bool {
	removes, leaves := false, false
	for _, file := range p.Files() {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			switch p.CalleeName(call) {
			case "os.Remove", "os.RemoveAll":
				removes = true
			case "os.Rename", "os.Link", "os.Symlink", "os.StartProcess", "os/exec.Command", "os/exec.CommandContext", "syscall.Mmap", "net/http.ServeFile":
				leaves = true
			}
			return true
		})
	}
	return removes && !leaves
}
