//go:build !linux && !darwin && !windows

package recording

import "runtime"

func thisMachine() Machine { return Machine{Cores: runtime.NumCPU()} }

func busyCPU() (float64, bool) { return 0, false }

func throttled() (float64, bool) { return 0, false }
