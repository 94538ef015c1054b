// Package live tells tests that take minutes from those that run all the time.
//
// A test that builds real programs and measures them proves more than one that reads what such a run left, and takes a
// hundred times as long. Both are kept: go test ./... runs in a minute and gives the same answer each time;
// go test -tags live ./... adds the tests that measure. Nothing but tests imports this package.
package live

import "testing"

// Only skips a test without the build tag live.
func Only(t testing.TB) {
	t.Helper()
	if !On {
		t.Skip("builds or measures real programs: go test -tags live")
	}
}
