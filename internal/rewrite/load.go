package rewrite

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/tools/go/packages"
)

// loadMode is what the rewrites ask for.
const loadMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedTypes |
	packages.NeedTypesSizes | packages.NeedTypesInfo | packages.NeedSyntax | packages.NeedModule

// Load loads the package of a directory with its types. A package that does not compile is an error.
//
// overlay holds the texts of files, by absolute path, that differ from those on disk.
func Load(ctx context.Context, dir string, buildFlags []string, overlay map[string][]byte) (*packages.Package, error) {
	list, err := packages.Load(&packages.Config{Mode: loadMode, Context: ctx, Dir: dir, BuildFlags: buildFlags, Overlay: overlay, Env: append(os.Environ(), "GOPACKAGESDRIVER=off")}, ".")
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("%s has %d packages, want one", dir, len(list))
	}
	for _, e := range list[0].Errors {
		return nil, errors.New(e.Msg)
	}
	return list[0], nil
}
