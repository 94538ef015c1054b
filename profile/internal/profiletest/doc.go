// Package profiletest provides profiles for the tests of package profile and the packages below it:
// random, built and recorded ones, and conversions from and to google/pprof, the oracle.
package profiletest
