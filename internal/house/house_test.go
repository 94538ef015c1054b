package house

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/hone-go/hone/"
)

// An exception is something that a package may do against the rules.
type exception struct{ pkg, what, why string }

// exceptions are few, and each says why. One that is no longer needed fails the test.
var exceptions = []exception{
	{"internal/target/probe", "os.Getenv", "runs inside the target, where the environment is how hone speaks to it"},
	{"internal/target/compilewrap", "os.Args", "a command of its own, which the go command runs"},
	{"internal/target/compilewrap", "os.Getenv", "as above"},
	{"internal/target/compilewrap", "os.Stdout", "hands its streams to the compiler"},
	{"internal/target/compilewrap", "os.Stderr", "as above"},
	{"internal/diagnose/rules/ruletest", `import "flag"`, "declares -update for the tests that use it"},
	{"internal/pprofdriver", `import "flag"`, "passes pprof its options, in tests"},
}

// The systems whose files are checked: code that depends on a system has a file for each.
var systems = []string{"linux", "darwin", "windows"}

func TestHouse(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	table, err := parseFloors(page)
	if err != nil {
		t.Fatal(err)
	}
	var found []problem
	seen := map[string]bool{}
	for _, goos := range systems {
		pkgs := list(t, goos)
		found = append(found, table.check(pkgs)...)
		for _, p := range pkgs {
			if !seen[p.path()] {
				seen[p.path()] = true
				found = append(found, table.checkSource(t, p)...)
			}
		}
	}
	used := make([]bool, len(exceptions))
	reported := map[problem]bool{}
	for _, p := range found {
		if i := slices.IndexFunc(exceptions, func(e exception) bool { return e.pkg == p.pkg && e.what == p.what }); i >= 0 {
			used[i] = true
		} else if !reported[p] {
			reported[p] = true
			t.Errorf("%s: %s: %s", p.pkg, p.what, p.text)
		}
	}
	for i, e := range exceptions {
		if !used[i] {
			t.Errorf("the exception for %s (%s) is not needed", e.pkg, e.what)
		}
	}
}

// goPackage is a package on one system.
type goPackage struct {
	Dir          string
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

// path is the import path below the module.
func (p goPackage) path() string {
	return strings.TrimPrefix(p.ImportPath, module)
}

// list returns the packages of the module on a system. go list would also load what they import,
// which takes a second.
func list(t *testing.T, goos string) []goPackage {
	t.Helper()
	system := build.Default
	system.GOOS, system.CgoEnabled = goos, false
	var pkgs []goPackage
	err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if dir != root {
			_, err := os.Stat(filepath.Join(dir, "go.mod"))
			if name := d.Name(); err == nil || name == "testdata" || name[0] == '.' || name[0] == '_' {
				return fs.SkipDir
			}
		}
		p, err := system.ImportDir(dir, 0)
		var none *build.NoGoError
		if errors.As(err, &none) && len(p.IgnoredGoFiles) == 0 {
			return nil
		} else if err != nil && none == nil {
			return err
		}
		path, err := filepath.Rel(root, dir)
		pkgs = append(pkgs, goPackage{dir, module + filepath.ToSlash(path), p.Imports, p.TestImports, p.XTestImports})
		return err
	})
	if err != nil {
		t.Fatalf("packages for %s: %v", goos, err)
	}
	if len(pkgs) == 0 {
		t.Fatalf("packages for %s: there are none", goos)
	}
	return pkgs
}

// floors are the packages of the table, by path below the module.
type floors map[string]int

var (
	tableRow = regexp.MustCompile(`(?m)^\| *(\d+) *\|([^|]*)\|`)
	quoted   = regexp.MustCompile("`([^`]+)`")
)

// parseFloors reads the rows "| 2 | `a`, `b` | … |".
func parseFloors(page []byte) (floors, error) {
	table := floors{}
	for _, row := range tableRow.FindAllSubmatch(page, -1) {
		floor, err := strconv.Atoi(string(row[1]))
		if err != nil {
			return nil, err
		}
		for _, name := range quoted.FindAllSubmatch(row[2], -1) {
			if _, twice := table[string(name[1])]; twice {
				return nil, fmt.Errorf("%s is in the table twice", name[1])
			}
			table[string(name[1])] = floor
		}
	}
	if len(table) == 0 {
		return nil, errors.New("no table of floors")
	}
	return table, nil
}

// home is the entry of the table that a package belongs to: its own or its nearest ancestor's.
func (f floors) home(path string) (name string, floor int, ok bool) {
	for name = path; ; name = name[:strings.LastIndex(name, "/")] {
		if floor, ok = f[name]; ok {
			return name, floor, true
		}
		if !strings.Contains(name, "/") {
			return "", 0, false
		}
	}
}

// problem is one violation of the rules.
type problem struct{ pkg, what, text string }

// check compares packages and what they import with the table.
func (f floors) check(pkgs []goPackage) (found []problem) {
	there := map[string]bool{}
	for _, p := range pkgs {
		home, floor, ok := f.home(p.path())
		if !ok {
			found = append(found, problem{p.path(), "floor", "not in the table of ARCHITECTURE.md"})
			continue
		}
		there[home] = true
		for _, path := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			imported, ours := strings.CutPrefix(path, module)
			if !ours {
				continue
			}
			if other, below, ok := f.home(imported); ok && other != home && below >= floor {
				found = append(found, problem{p.path(), "import " + imported,
					fmt.Sprintf("floor %d imports floor %d", floor, below)})
			}
		}
	}
	for name := range f {
		if !there[name] {
			found = append(found, problem{name, "floor", "in the table of ARCHITECTURE.md, but not there"})
		}
	}
	return found
}

const (
	printing    = 7 // the lowest floor that may write to the terminal
	environment = 8 // the lowest floor that may read flags and the environment
)

// checkSource checks every file in a package's directory, whichever system it is for.
func (f floors) checkSource(t *testing.T, p goPackage) (found []problem) {
	t.Helper()
	_, floor, _ := f.home(p.path())
	names, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	documented := false
	fset := token.NewFileSet()
	for _, name := range names {
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Errorf("parse: %v", err)
			continue
		}
		for _, what := range uses(file) {
			switch {
			case what == `import "C"`:
				found = append(found, problem{p.path(), what, "hone is pure Go"})
			case strings.HasSuffix(name, "_test.go"):
			case what == "func init":
				found = append(found, problem{p.path(), what, "nothing happens before main"})
			case prints[what] && floor < printing:
				found = append(found, problem{p.path(), what, fmt.Sprintf("nothing below floor %d prints", printing)})
			case surroundings[what] && floor < environment:
				found = append(found, problem{p.path(), what, fmt.Sprintf("nothing below floor %d reads flags or the environment", environment)})
			}
		}
		documented = documented || isPackageComment(file)
	}
	if !documented {
		found = append(found, problem{p.path(), "package comment", "there is none"})
	}
	return found
}

// isPackageComment reports whether the file starts with "Package name …" or, for a command,
// "Command …".
func isPackageComment(file *ast.File) bool {
	begin := "Package " + file.Name.Name + " "
	if file.Name.Name == "main" {
		begin = "Command "
	}
	return strings.HasPrefix(file.Doc.Text(), begin)
}

// prints are the ways to write to the terminal.
var prints = map[string]bool{
	"fmt.Print": true, "fmt.Printf": true, "fmt.Println": true, "print": true, "println": true,
	"os.Stdout": true, "os.Stderr": true, `import "log"`: true,
}

// surroundings are the ways to read flags and the environment. A subprocess may
// inherit the environment (os.Environ).
var surroundings = map[string]bool{
	`import "flag"`: true, "os.Args": true,
	"os.Getenv": true, "os.LookupEnv": true, "os.ExpandEnv": true, "syscall.Getenv": true,
	"os.UserHomeDir": true, "os.UserCacheDir": true, "os.UserConfigDir": true,
}

// uses lists what a file imports (`import "C"`), names of other packages
// ("os.Getenv"), calls of print and println, and init functions.
func uses(file *ast.File) (list []string) {
	imports := map[string]string{} // local name → path
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		name := path[strings.LastIndex(path, "/")+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imports[name] = path
		list = append(list, fmt.Sprintf("import %q", path))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && imports[x.Name] != "" {
				list = append(list, imports[x.Name]+"."+n.Sel.Name)
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "print" || f.Name == "println") {
				list = append(list, f.Name)
			}
		case *ast.FuncDecl:
			if n.Recv == nil && n.Name.Name == "init" {
				list = append(list, "func init")
			}
		}
		return true
	})
	return list
}
