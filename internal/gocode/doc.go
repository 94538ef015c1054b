// Package gocode knows facts about Go code: who owns a frame, where its source
// is, what the compiler decided there, and the typed syntax around a line.
package gocode
