// Package screen writes text to a terminal that text from outside cannot take over.
//
// Names in profiles, labels, traces, manifests, file names and what a target prints come from
// anywhere. Escape sequences among them would set a title, fill the clipboard or clear the screen;
// a bidi override would show a name that is not there. Writer is the stage that all of hone's text
// passes on its way out: of what is not printable it lets only line ends through, and the colours
// that hone itself marked with the Writer's Ink, which nothing from outside can guess. All else
// becomes visible, in the words of a Go string literal: \x1b, \u202e.
//
// A name stays in its line only if its own line ends are escaped before it gets into a page, which
// is what Line does.
package screen
