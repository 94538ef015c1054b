// Package source opens whatever hone's commands take as SOURCE: a file, a part of a recording, a
// URL of net/http/pprof, standard input, a view of an execution trace.
//
// The decision that shapes it: there is one way in. Opener.Profile returns a profile with its code,
// Opener.Trace a stream of a trace, Opener.Recording a recording. A command chooses one of the
// three and never parses what the user typed. So every command accepts every kind of source, and
// each kind is resolved, limited and explained in one place.
package source
