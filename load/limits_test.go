package load

import "testing"

func TestConnectionLimitIsUsable(t *testing.T) {
	n, why := connectionLimit()
	if n < 1 || n > memoryLimit || why == "" {
		t.Errorf("%d connections (%s)", n, why)
	}
	if files, ok := openFiles(); ok && uint64(n) >= files {
		t.Errorf("%d connections with %d files", n, files)
	}
}
