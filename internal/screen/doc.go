// Package screen writes text to a terminal such that text from outside cannot control the terminal.
//
// Names in profiles, labels, traces and manifests, file names and the output of a target can have
// any content. Escape sequences in them could set a title, fill the clipboard or clear the screen;
// a bidi override could show a different name. All output of hone passes through a Writer. Of the
// characters that are not printable it keeps only line ends, and the colours that hone itself
// marked with the Writer's Ink, which nobody outside can guess. It escapes everything else as in a
// Go string literal: \x1b, \u202e.
//
// To keep a name in its line, its line ends must be escaped before it is inserted into a page. Line
// does that.
package screen
