// Package gittree writes the files of a git commit to another directory without changing the
// repository: it registers no worktree, moves no ref, and uses its own index.
package gittree
