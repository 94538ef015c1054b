package promises

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// repair is a pair of files of a program: before and after.
type repair struct{ program, name string }

// repairs finds the pairs by the names of their files.
func repairs(t *testing.T) []repair {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("*", "*_before.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no repairs: %v", err)
	}
	var all []repair
	for _, f := range files {
		all = append(all, repair{filepath.Dir(f), strings.TrimSuffix(filepath.Base(f), "_before.go")})
	}
	return all
}

// Both files of a repair declare the same functions, and are built with its tag or without.
func TestPairsDeclareTheSame(t *testing.T) {
	all := repairs(t)
	if len(all) != 20 {
		t.Errorf("%d repairs, want 20", len(all))
	}
	for _, r := range all {
		before := declared(t, filepath.Join(r.program, r.name+"_before.go"), "!fix_"+r.name)
		after := declared(t, filepath.Join(r.program, r.name+"_after.go"), "fix_"+r.name)
		for _, function := range before {
			if !slices.Contains(after, function) {
				t.Errorf("%s: the repair %s has no function %s", r.program, r.name, function)
			}
		}
	}
}

// declared lists the functions and methods of a file that has the given build constraint.
func declared(t *testing.T, name, tag string) (functions []string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	expr, err := constraint.Parse(first)
	if err != nil || expr.String() != tag {
		t.Errorf("%s begins with %q, want //go:build %s", name, first, tag)
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			functions = append(functions, f.Name.Name)
		}
	}
	return functions
}

// Each repair alone, and all repairs of a program together, pass the program's tests.
func TestRepairsGiveTheSameAnswers(t *testing.T) {
	all := map[string][]string{}
	for _, r := range repairs(t) {
		all[r.program] = append(all[r.program], "fix_"+r.name)
	}
	if len(all) != 10 {
		t.Errorf("%d programs, want 10", len(all))
	}
	for program, tags := range all {
		choices := tags
		if len(tags) > 1 {
			choices = append(slices.Clone(tags), strings.Join(tags, ","))
		}
		for _, choice := range choices {
			t.Run(program+"/"+choice, func(t *testing.T) {
				t.Parallel()
				out, err := exec.Command("go", "test", "-vet=off", "-tags", choice, "./"+program).CombinedOutput()
				if err != nil {
					t.Errorf("go test -tags %s ./%s: %v\n%s", choice, program, err, out)
				}
			})
		}
	}
}
