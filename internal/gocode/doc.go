// Package gocode answers questions about Go code: who owns a frame, where its source is, what the
// compiler decided there, and the typed syntax around a line.
//
// The decision that shapes it: the file of a frame is the key, never its symbol. An inlined closure
// keeps its caller's name, so a symbol may name the wrong package; the file does not. Every form in
// which the compiler writes a file (absolute, trimmed, vendored, in the module cache, in GOROOT)
// leads to one owner: module, version, package, path inside the module. Sources, compiler records
// and syntax are looked up by that owner, so a profile from a trimmed binary joins with facts
// compiled from the local tree.
//
// It asks the go command, lazily and at most once per question, and works without it: paths and
// build info then answer what they can, and Notes says what is missing. It never writes outside its
// cache directory, never changes go.mod or go.sum, never downloads a module, and never links a
// program.
//
// It does not report a compiler decision as a cost. The compiler's facts are static; only a profile
// shows whether a line allocates.
package gocode
