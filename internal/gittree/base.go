package gittree

import (
	"context"
	"errors"
	"os/exec"
	"strings"
)

// Base returns the commit with which the tree in dir is compared by default: the one where its
// branch left the upstream branch. A tree at that commit is compared with the previous commit,
// unless it has changes.
func Base(ctx context.Context, dir string) (string, error) {
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = dir
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err
	}
	head, err := git("rev-parse", "--verify", "HEAD")
	if err != nil {
		return "", errors.New("no base to compare with: this is not a git repository with a commit; name one with -base in a clone")
	}
	for _, ref := range []string{"origin/HEAD", "origin/main", "origin/master", "main", "master"} {
		base, err := git("merge-base", "HEAD", ref)
		if err != nil {
			continue
		}
		if base != head {
			return base, nil
		}
		break
	}
	if changes, err := git("status", "--porcelain", "--untracked-files=no"); err == nil && changes != "" {
		return head, nil
	}
	if before, err := git("rev-parse", "--verify", "HEAD~1"); err == nil {
		return before, nil
	}
	return "", errors.New("no base to compare with: the clone has one commit (a CI job may need fetch-depth: 0); name one with -base")
}
