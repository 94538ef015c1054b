package recording

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

func thisMachine() Machine {
	v := windows.RtlGetVersion()
	m := Machine{
		Cores:  runtime.NumCPU(),
		Kernel: fmt.Sprintf("%d.%d.%d", v.MajorVersion, v.MinorVersion, v.BuildNumber),
	}
	k, err := registry.OpenKey(registry.LOCAL_MACHINE,
		`HARDWARE\DESCRIPTION\System\CentralProcessor\0`, registry.QUERY_VALUE)
	if err == nil {
		m.CPU, _, _ = k.GetStringValue("ProcessorNameString")
		k.Close()
	}
	return m
}

func machineCPU() (CPUTime, bool) { return CPUTime{}, false }

// throttled returns false: job objects have CPU quotas but do not count the throttled time.
func throttled() (float64, bool) { return 0, false }

func clocks() (Clocks, bool) { return Clocks{}, false }
