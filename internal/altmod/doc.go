// Package altmod writes go.mod files to use instead of the user's: with another version of a
// dependency, or with a copy of one.
//
// The user's files are not changed: each alternate file is in a directory of hone's, with a go.sum,
// and the go command gets it by -modfile. Three properties of the go command determine the method:
//
//   - In a workspace, -modfile is an error. The build therefore runs with GOWORK=off, and the
//     alternate file contains what the workspace adds: its other modules and the replacements of
//     all of them, with absolute paths.
//   - With a vendor directory, another go.mod is an error ("inconsistent vendoring"), so each build
//     has -mod=mod.
//   - An overlay of files in the module cache is an error, so a patched dependency is a copy of the
//     module and a replace directive.
package altmod
