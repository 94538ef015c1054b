package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// below matches the rows "| `a/b` | … |" of ARCHITECTURE.md: packages below those in the table of
// floors.
var below = regexp.MustCompile("(?m)^\\| `([a-z0-9/]+)` \\|")

// TestPackagesBelow compares the packages that ARCHITECTURE.md lists below the floors with the
// tree.
func TestPackagesBelow(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	table, err := parseFloors(page)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, row := range below.FindAllSubmatch(page, -1) {
		if name := string(row[1]); listed[name] {
			t.Errorf("%s is listed twice", name)
		} else {
			listed[name] = true
		}
	}
	pkgs := list(t, "linux")
	imported := map[string]bool{} // by code other than tests
	for _, p := range pkgs {
		for _, path := range p.Imports {
			imported[strings.TrimPrefix(path, module)] = true
		}
	}
	exists := map[string]bool{}
	for _, p := range pkgs {
		path := p.path()
		exists[path] = true
		_, floor := table[path]
		isRule := strings.HasPrefix(path, "internal/diagnose/rules/")
		if !floor && !isRule && imported[path] && !strings.HasSuffix(path, "test") && !listed[path] {
			t.Errorf("%s is not in ARCHITECTURE.md", path)
		}
	}
	for path := range listed {
		if _, floor := table[path]; floor || !exists[path] {
			t.Errorf("ARCHITECTURE.md lists %s below the floors: it does not exist, or is in the table of floors", path)
		}
	}
}
