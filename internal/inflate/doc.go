// Package inflate reads gzip data (RFC 1952, RFC 1951) as fast as Go allows.
//
// Decompression is a third of the work of showing a profile, and the libraries read input byte by
// byte through an interface. This package makes one decision that they cannot make: it owns its
// input buffer, so that it can load eight bytes at once, decode several symbols from them, and copy
// matches eight bytes at a time. The tables are those of libdeflate (a root of 11 bits for literals
// and lengths, 8 for distances, and subtables).
//
// It reads gzip from memory, files and networks, including concatenated members. It does not write,
// does not support preset dictionaries, does not return the header, and may read beyond the end of
// the last member. It rejects malformed data exactly where compress/gzip does.
package inflate
