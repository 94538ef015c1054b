// Package live separates tests that take minutes from those that run all the time.
//
// A test that builds and measures real programs, or opens pages in a browser, proves more than one
// that reads what such a run recorded, and takes a hundred times as long. Both are kept:
// go test ./... runs in a minute and always gives the same answer; go test -tags live ./... adds
// the tests that measure. Only tests import this package.
package live

import "testing"

// Only skips a test without the build tag live.
func Only(t testing.TB) {
	t.Helper()
	if !On {
		t.Skip("builds or measures real programs, or opens a browser: go test -tags live")
	}
}
