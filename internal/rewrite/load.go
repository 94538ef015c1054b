package rewrite

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/tools/go/packages"
)

// loadMode is what the rewrites need of a package.
const loadMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedTypes |
	packages.NeedTypesSizes | packages.NeedTypesInfo | packages.NeedSyntax | packages.NeedModule

// Load loads the package of a directory with its types. A package that does not compile is an
// error.
//
// overlay maps absolute paths to texts of files that differ from those on disk.
func Load(ctx context.Context, dir string, buildFlags []string, overlay map[string][]byte) (*packages.Package, error) {
	return load(&packages.Config{Context: ctx, Dir: dir, BuildFlags: buildFlags, Overlay: overlay}, ".")
}

// LoadPackage loads a package by its import path, as the module in a directory sees it. env is
// added to the environment of the go command.
func LoadPackage(ctx context.Context, dir, importPath string, buildFlags, env []string) (*packages.Package, error) {
	return load(&packages.Config{Context: ctx, Dir: dir, BuildFlags: buildFlags, Env: env}, importPath)
}

func load(c *packages.Config, pattern string) (*packages.Package, error) {
	c.Mode, c.Env = loadMode, append(append(os.Environ(), "GOPACKAGESDRIVER=off"), c.Env...)
	list, err := packages.Load(c, pattern)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("%s has %d packages, want one", c.Dir, len(list))
	}
	for _, e := range list[0].Errors {
		return nil, errors.New(e.Msg)
	}
	return list[0], nil
}
