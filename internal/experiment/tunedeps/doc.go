// Package tunedeps looks for the oldest version of a dependency that costs less: the newest one runs interleaved with the target
// as it is, and where it saves something the versions between are searched by halves.
//
// A version is tried with a go.mod of its own (-modfile), so that the user's tree stays as it is. A version that does not build, or
// that needs another import path, is reported as that.
package tunedeps
