package target

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// lines reads the lines of a file that a program writes, until there are n.
func lines(t *testing.T, file string, n int) []string {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		b, _ := os.ReadFile(file)
		if ls := strings.Split(string(b), "\n"); len(ls) > n {
			return ls[:n]
		}
	}
	t.Fatalf("%s never has %d lines", file, n)
	return nil
}

// gone waits until a process has exited, or is a zombie with another parent.
func gone(t *testing.T, pid int) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return // startTime needs /proc
	}
	for end := time.Now().Add(10 * time.Second); startTime(pid) != 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d lives on", pid)
		}
	}
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func testStop(t *testing.T, kit *Binary) {
	p := mustStart(t, kit, RunSpec{Args: []string{"idle"}})
	if err := waitProbe(soon(t), p); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := p.Stop(soon(t)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if e := p.Exit(); e.Signal != "terminated" || !e.Stopped || e.Wall <= 0 || e.Wall > StopGrace {
		t.Errorf("exit %+v", e)
	}
	gone(t, p.PID())

	out := filepath.Join(t.TempDir(), "out")
	p = mustStart(t, kit, RunSpec{Args: []string{"stubborn"}, Stdout: out, Grace: 100 * time.Millisecond})
	lines(t, out, 1)
	if err := p.Stop(soon(t)); err != nil {
		t.Fatal(err)
	}
	if e := p.Exit(); e.Signal != "killed" || e.Code != -1 {
		t.Errorf("exit %+v", e)
	}

	// A context that is canceled allows no grace period.
	p = mustStart(t, kit, RunSpec{Args: []string{"stubborn"}, Stdout: out, Grace: time.Hour})
	lines(t, out, 1)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := p.Stop(ended); err != nil {
		t.Fatal(err)
	}
	gone(t, p.PID())
}

func testChildren(t *testing.T, kit *Binary) {
	out := filepath.Join(t.TempDir(), "out")
	p := mustStart(t, kit, RunSpec{Args: []string{"parent"}, Stdout: out})
	child := number(t, lines(t, out, 1)[0])
	if err := p.Stop(soon(t)); err != nil {
		t.Fatal(err)
	}
	gone(t, child)

	// As after Ctrl-C: the context is canceled.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p, err := kit.Start(ctx, RunSpec{Args: []string{"parent"}, Stdout: out})
	if err != nil {
		t.Fatal(err)
	}
	child = number(t, lines(t, out, 1)[0])
	cancel()
	finish(t, p)
	gone(t, p.PID())
	gone(t, child)
	if _, err := kit.Start(ctx, RunSpec{}); err == nil {
		t.Error("started under a context that has ended")
	}
}

const (
	helperBinary = "TARGET_TEST_BINARY"
	helperProbe  = "TARGET_TEST_PROBE"
)

// TestHelper runs in another process: it plays a hone that starts a target and then waits to be
// killed.
func TestHelper(t *testing.T) {
	path := os.Getenv(helperBinary)
	if path == "" {
		t.Skip("it is a part of another test")
	}
	b := &Binary{Path: path, Probe: os.Getenv(helperProbe) == "yes"}
	p, err := b.Start(context.Background(), RunSpec{Args: []string{"stubborn"}})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("\npid %d\n", p.PID())
	select {
	case <-p.Done():
	case <-time.After(30 * time.Second):
	}
	p.Stop(context.Background())
}

func testCrash(t *testing.T, kit *Binary) {
	if runtime.GOOS != "linux" {
		t.Skip("the end of a process is seen through /proc")
	}
	for _, probe := range []string{"yes", "no"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestHelper$")
		cmd.Env = append(os.Environ(), helperBinary+"="+kit.Path, helperProbe+"="+probe)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		pid := 0
		for s := bufio.NewScanner(out); pid == 0 && s.Scan(); {
			if rest, ok := strings.CutPrefix(s.Text(), "pid "); ok {
				pid = number(t, rest)
			}
		}
		if pid == 0 || startTime(pid) == 0 {
			t.Errorf("the helper started no target (pid %d)", pid)
		}
		cmd.Process.Kill()
		cmd.Wait()
		gone(t, pid)
	}
	// The killed helper could not remove its file.
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(kit.Path), "stderr-*"))
	for _, f := range left {
		os.Remove(f)
	}
}

func testReady(t *testing.T, kit *Binary) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if !PortTaken(addr) {
		t.Error("a port that is listened at is not taken")
	}
	l.Close()
	if PortTaken(addr) {
		t.Error("a free port is taken")
	}

	p := mustStart(t, kit, RunSpec{Args: []string{"idle"}})
	short, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := WaitReady(short, p, addr); err == nil {
		t.Error("ready without a listener")
	} else {
		wantIn(t, err.Error(), "waited", addr, "deadline", "refused")
	}
	time.AfterFunc(50*time.Millisecond, func() {
		if l, err := net.Listen("tcp", addr); err == nil {
			time.AfterFunc(5*time.Second, func() { l.Close() })
		}
	})
	if err := WaitReady(soon(t), p, addr); err != nil {
		t.Error(err)
	}

	free := "127.0.0.1:1"
	p = mustStart(t, kit, RunSpec{Args: []string{"exit3"}})
	if err := WaitReady(soon(t), p, free); err == nil {
		t.Error("ready although it ended")
	} else {
		wantIn(t, err.Error(), "exited before", free, "exit code 3", "about to exit 3")
	}
	p = mustStart(t, kit, RunSpec{Args: []string{"instant"}})
	if err := WaitReady(soon(t), p, free); err == nil {
		t.Error("ready although it ended")
	} else {
		wantIn(t, err.Error(), "exit code 0")
	}
}
