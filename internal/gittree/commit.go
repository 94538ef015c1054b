package gittree

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Commit is a commit, with the branch that was asked for.
type Commit struct {
	Hash    string
	Time    time.Time // of the committer
	Subject string    // first line of the message
	Branch  string    // checked out in the tree; "" for none, and for commits other than the tree's
	Dirty   bool      // the tree has changes of tracked files; only for the tree's commit
}

// Describe returns the commit that ref names in dir's repository; "" is the tree's commit.
func Describe(ctx context.Context, dir, ref string) (Commit, error) {
	own := ref == ""
	if own {
		ref = "HEAD"
	}
	list, err := logOf(ctx, dir, "-1", "--end-of-options", ref)
	if err != nil || len(list) == 0 {
		return Commit{}, fmt.Errorf("no commit %q in %s: %w", ref, dir, err)
	}
	c := list[0]
	if own {
		if branch, err := gitLine(ctx, dir, "symbolic-ref", "--short", "-q", "HEAD"); err == nil {
			c.Branch = branch
		}
		if changes, err := gitLine(ctx, dir, "status", "--porcelain", "--untracked-files=no"); err == nil {
			c.Dirty = changes != ""
		}
	}
	return c, nil
}

// Between lists the commits after good up to bad, along first parents, oldest first. good must be
// an ancestor of bad.
func Between(ctx context.Context, dir, good, bad string) ([]Commit, error) {
	g, err := Describe(ctx, dir, good)
	if err != nil {
		return nil, err
	}
	b, err := Describe(ctx, dir, bad)
	if err != nil {
		return nil, err
	}
	base, err := gitLine(ctx, dir, "merge-base", g.Hash, b.Hash)
	var exit *exec.ExitError
	if none := errors.As(err, &exit) && exit.ExitCode() == 1; err != nil && !none { // git was killed, or cannot read a commit
		return nil, err
	}
	if base != g.Hash {
		return nil, fmt.Errorf("%s (%.12s) is not an ancestor of %s (%.12s): name two commits of one line", good, g.Hash, bad, b.Hash)
	}
	return logOf(ctx, dir, "--reverse", "--first-parent", g.Hash+".."+b.Hash)
}

func logOf(ctx context.Context, dir string, args ...string) ([]Commit, error) {
	out, err := gitLine(ctx, dir, append([]string{"log", "--format=%H%x00%ct%x00%s"}, args...)...)
	if err != nil {
		return nil, err
	}
	var list []Commit
	for line := range strings.Lines(out) {
		parts := strings.SplitN(strings.TrimRight(line, "\r\n"), "\x00", 3)
		if len(parts) < 3 {
			continue
		}
		seconds, err := strconv.ParseInt(parts[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("git log: the time %q: %w", parts[1], err)
		}
		list = append(list, Commit{Hash: parts[0], Time: time.Unix(seconds, 0).UTC(), Subject: parts[2]})
	}
	return list, nil
}

// Top returns the root directory of dir's work tree.
func Top(ctx context.Context, dir string) (string, error) {
	return gitLine(ctx, dir, "rev-parse", "--show-toplevel")
}

// gitLine runs git and returns its output without the final line end.
func gitLine(ctx context.Context, dir string, args ...string) (string, error) {
	var stderr strings.Builder
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Stderr = dir, &stderr
	out, err := cmd.Output()
	if err != nil && interrupted(ctx, err) {
		return "", ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimRight(string(out), "\r\n"), nil
}

// soon is how long after git's the end of ctx may come: an interrupt of the terminal goes to all
// processes at once.
const soon = time.Second

// interrupted reports whether git was killed because ctx ends.
func interrupted(ctx context.Context, err error) bool {
	var exit *exec.ExitError
	if killed := errors.As(err, &exit) && exit.ExitCode() == -1; !killed {
		return ctx.Err() != nil
	}
	select {
	case <-ctx.Done():
		return true
	case <-time.After(soon):
		return false
	}
}
