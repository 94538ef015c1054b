package target

import (
	"net"
	"os"
	"slices"
	"testing"
)

func TestListening(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 111 1
   1: 0100007F:1F90 0100007F:A000 01 00000000:00000000 00:00000000 00000000  1000        0 222 1
   2: 00000000:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 333 1
   3: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 444 1
   4: 1F90 x 0A
`
	if got := listening(table, 8080); !slices.Equal(got, []string{"111", "444"}) {
		t.Errorf("listeners at 8080: %q", got)
	}
}

func TestListeners(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if pids, err := listeners(port); err != nil || !slices.Equal(pids, []int{os.Getpid()}) {
		t.Errorf("processes %v, %v; want this one", pids, err)
	}
	l.Close()
	if pids, err := listeners(port); err != nil || len(pids) != 0 {
		t.Errorf("processes %v, %v; want none", pids, err)
	}
}

func FuzzListening(f *testing.F) {
	f.Add(" 0: 0100007F:1F90 00000000:0000 0A 0 0 0 0 0 123\n", 8080)
	f.Fuzz(func(_ *testing.T, table string, port int) { listening(table, port) })
}
