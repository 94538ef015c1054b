//go:build live

package covdata_test

// covered are the packages whose blocks are counted, including one of the standard library, which
// must be compiled again.
const covered = "./...,strings"
