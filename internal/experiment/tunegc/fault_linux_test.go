package tunegc

import "testing"

func TestFaultCost(t *testing.T) {
	cost, ok := faultCost()
	t.Logf("%.3g s per page", cost)
	if !ok || cost < 2e-8 || cost > 1e-4 {
		t.Errorf("the first use of a page takes %.3g s of CPU, %v", cost, ok)
	}
}
