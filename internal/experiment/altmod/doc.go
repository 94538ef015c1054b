// Package altmod writes go.mod files that stand in for the user's: with another version of a dependency, or with a copy of one.
//
// The user's files stay as they are: each alternate file lies in a directory of hone's, with a go.sum beside it, and is handed to the
// go command with -modfile. Three facts of the go command decide how:
//
//   - in a workspace, -modfile is refused. The build therefore runs with GOWORK=off, and the alternate file gets what the workspace
//     adds: its other modules and the replacements of all of them, with absolute paths;
//   - a vendored main module answers "inconsistent vendoring" to another go.mod, so each build has -mod=mod;
//   - an overlay of files in the module cache is refused, so a patched dependency is a copy of the module and a replace directive.
package altmod
