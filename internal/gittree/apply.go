package gittree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Apply applies a patch to a copy of a commit. Its paths are relative to the root of the
// repository, or to the target's directory.
func Apply(ctx context.Context, root, target, patch string) error {
	var all []error
	for _, dir := range []string{root, target} {
		var stderr bytes.Buffer
		cmd := exec.CommandContext(ctx, "git", "apply", "--whitespace=nowarn", patch)
		// The copy is not a repository, and must not be taken for a part of the repository that
		// contains it.
		cmd.Dir, cmd.Stderr, cmd.Env = dir, &stderr, append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(root))
		err := cmd.Run()
		if err == nil {
			return nil
		}
		all = append(all, fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr.String())))
	}
	return fmt.Errorf("the patch does not fit the commit: %w", errors.Join(all...))
}
