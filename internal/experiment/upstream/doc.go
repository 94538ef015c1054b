// Package upstream says what to do about a finding in a dependency, in this order: a version
// without the problem, a workaround in the caller, a patched copy of the module. It writes the text
// of an issue for the module's maintainers to a file, and sends nothing.
//
// The copy is in a directory that the user chooses, and is used by a replace directive, because the
// go command does not accept overlays of the module cache. The user's go.mod is not changed: the
// directive is printed, and the copy is built and measured with a separate go.mod.
package upstream
