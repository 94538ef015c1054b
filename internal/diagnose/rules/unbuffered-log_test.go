package rules_test

import (
	"path/filepath"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	unbufferedlog "github.com/hone-go/hone/internal/diagnose/rules/unbuffered-log"
)

// TestUnbufferedLogWriters: loggers with writers of the program, of which one collects lines and
// one waits for the disk.
func TestUnbufferedLogWriters(t *testing.T) {
	r := unbufferedlog.Rule()
	archive := filepath.Join("unbuffered-log", "testdata", "writers.txtar")
	ruletest.Compare(t, r, ruletest.RecordFor(t, r, archive), ruletest.Wanted(t, archive, r.ID))
}
