//go:build !linux && !darwin && !windows

package recording

import "runtime"

func thisMachine() Machine { return Machine{Cores: runtime.NumCPU()} }

func machineCPU() (CPUTime, bool) { return CPUTime{}, false }

func throttled() (float64, bool) { return 0, false }

func clocks() (Clocks, bool) { return Clocks{}, false }
