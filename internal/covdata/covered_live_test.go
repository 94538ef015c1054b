//go:build live

package covdata_test

// covered are the packages whose blocks are counted: with one of the standard library, which is compiled again for that.
const covered = "./...,strings"
