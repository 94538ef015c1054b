//go:build !live

package ruletest

import "testing"

// record needs packages that build and run programs, which the tests without the tag do not link.
func record(t *testing.T, _ string, _ extras) []byte {
	t.Helper()
	t.Fatal("-update builds and runs programs: go test -tags live ./internal/diagnose/rules -update")
	return nil
}
