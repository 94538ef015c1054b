// Package inflate reads gzip'd data (RFC 1952, RFC 1951) as fast as Go allows.
//
// Inflating is a third of what hone does to show a profile, and the libraries
// read it a byte at a time through an interface. This package takes one
// decision that they cannot: it owns its input buffer, so that it can load
// eight bytes at once, decode several symbols from them, and copy matches
// eight bytes at a time. The tables are those of libdeflate (a root of 11 bits
// for literals and lengths, 8 for distances, and subtables behind them).
//
// It is for gzip from memory, files and networks alike, members joined behind
// one another included. It does not write, has no preset dictionaries, tells
// nothing of the header, and may read beyond the end of the last member.
// What is broken is refused exactly where compress/gzip refuses it.
package inflate
