package gittree

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Checkout writes a commit's files to a directory without changing the repository: it uses its own
// index. It returns the directory that corresponds to dir there, and the commit.
func Checkout(ctx context.Context, dir, ref, into string) (old, commit string, err error) {
	git := func(env []string, args ...string) (string, error) {
		var stderr bytes.Buffer
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir, cmd.Stderr, cmd.Env = dir, &stderr, append(os.Environ(), env...)
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("git %s: %w\n%s", args[0], err, strings.TrimSpace(stderr.String()))
		}
		return strings.TrimRight(string(out), "\r\n"), nil
	}
	if commit, err = git(nil, "rev-parse", "--verify", "--end-of-options", ref+"^{commit}"); err != nil {
		return "", "", fmt.Errorf("no commit %q: %w", ref, err)
	}
	prefix, err := git(nil, "rev-parse", "--show-prefix")
	if err != nil {
		return "", "", err
	}
	index := []string{"GIT_INDEX_FILE=" + into + ".index"}
	if _, err := git(index, "read-tree", commit); err != nil {
		return "", "", err
	}
	root, err := git(nil, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(into, 0o700); err != nil {
		return "", "", err
	}
	if _, err := git(index, "-C", root, "checkout-index", "--all", "--prefix="+into+string(filepath.Separator)); err != nil {
		return "", "", err
	}
	old = filepath.Join(into, filepath.FromSlash(prefix))
	if _, err := os.Stat(old); err != nil {
		return "", "", fmt.Errorf("%s has no directory %s", ref, prefix)
	}
	return old, commit, nil
}
