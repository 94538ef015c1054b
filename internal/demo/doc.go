// Package demo is the loop on a shipped example: the left-pad service before and
// after its repair, recorded under the same load, diagnosed and compared.
//
// The decision that shapes it: the example is embedded as text and built like any
// other target, so the demo proves the product and not itself, and works from an
// installed binary in an empty directory.
package demo
