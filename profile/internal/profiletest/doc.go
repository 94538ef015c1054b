// Package profiletest makes profiles for the tests of package profile and the packages below
// it: drawn, built and recorded ones, and translations from and to google/pprof, the oracle.
package profiletest
