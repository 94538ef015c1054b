package recording

import (
	"runtime"
	"testing"
)

func TestThisMachine(t *testing.T) {
	m := ThisMachine()
	if m.Cores < 1 {
		t.Errorf("%+v", m)
	}
	if runtime.GOOS == "linux" && (m.MemoryBytes < 1<<20 || m.Kernel == "") {
		t.Errorf("%+v", m)
	}
	if m.CgroupBytes < 0 || m.CgroupCPUs < 0 {
		t.Errorf("%+v", m)
	}
	a, ok := Throttled()
	b, ok2 := Throttled()
	if ok != ok2 || b < a {
		t.Errorf("throttled %v then %v", a, b)
	}
}
