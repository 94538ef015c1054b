// Package gittree writes the files of a git commit somewhere else, without a change of the repository: no worktree is
// registered, no ref moved, and the index is one of its own.
package gittree
