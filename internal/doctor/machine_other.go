//go:build !linux && !darwin

package doctor

import (
	"errors"
	"runtime"
)

func readLoad() loadAverage {
	return loadAverage{err: errors.New("no load average on " + runtime.GOOS)}
}

func readPorts() portRange {
	return portRange{err: errors.New("not read on " + runtime.GOOS)}
}
