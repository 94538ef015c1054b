// Package upstream says what to do about a finding in a dependency, in this order: a version that cures, a workaround on the caller's
// side, a patched copy of the module. It writes the text of an issue for the module's maintainers to a file, and sends nothing.
//
// The copy is a directory of the user's choice, used by a replace directive, because the go command refuses overlays in the module cache. The
// user's go.mod stays as it is: the directive is printed, and the copy is built and measured with a go.mod of its own.
package upstream
