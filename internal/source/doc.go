// Package source opens whatever hone's commands take as SOURCE: a file, a part of a recording, a URL of
// net/http/pprof, standard input, a view of an execution trace.
//
// The decision that shapes it: there is one way in. Opener.Profile returns a profile with the code behind
// it, Opener.Trace a stream of a trace, Opener.Recording a recording; a command says which of the three it needs
// and never looks at what the user typed. So every command takes every kind of source, and each kind is
// resolved, limited and explained in one place.
package source
