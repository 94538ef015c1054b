//go:build !linux

package target

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
)

// dieWithHone has no counterpart here. The probe kills its process group when hone is gone; a
// program without probe survives a crash of hone (not a Ctrl-C).
func dieWithHone(*exec.Cmd) {}

// residentSize is not available without /proc.
func residentSize(int) int64 { return 0 }

// usageOf is not available without /proc.
func usageOf(int) (Usage, error) {
	return Usage{}, &Missing{
		What: "CPU time of a process without hone's probe",
		Why:  "it is read from /proc, which " + runtime.GOOS + " does not have",
		How:  needProbe,
	}
}

// punchHole is not used here: other systems have calls of their own for it.
func punchHole(*os.File, int64, int64) error { return errors.ErrUnsupported }
