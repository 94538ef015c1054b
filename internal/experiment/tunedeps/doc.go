// Package tunedeps finds the oldest version of a dependency that costs less: the newest version
// runs interleaved with the unchanged target, and if it saves something, the versions in between
// are searched by bisection.
//
// A version is tried with a separate go.mod (-modfile), so that the user's tree is not changed. A
// version that does not build, or that needs another import path, is reported as such.
package tunedeps
