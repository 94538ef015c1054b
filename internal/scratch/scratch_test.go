package scratch

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// TestMain is also the process that creates a directory and is killed.
func TestMain(m *testing.M) {
	if parent := os.Getenv("SCRATCH_TEST_PARENT"); parent != "" {
		d, err := Make(parent, "build-")
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(d.Path)
		time.Sleep(time.Minute)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestSweepAfterAKill: a directory remains while its process lives, and is removed after that
// process was killed.
func TestSweepAfterAKill(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such locks")
	}
	parent := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SCRATCH_TEST_PARENT="+parent)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := bufio.NewScanner(out)
	if !line.Scan() {
		t.Fatal("the process said nothing")
	}
	dir := line.Text()
	Sweep(parent, time.Now().Add(1000*time.Hour), "build-")
	if !exists(dir) {
		t.Error("the directory of a living process is gone")
	}
	cmd.Process.Kill()
	cmd.Wait()
	Sweep(parent, time.Now(), "capture-")
	if !exists(dir) {
		t.Error("a directory of another name is gone")
	}
	Sweep(parent, time.Now(), "capture-", "build-")
	if exists(dir) {
		t.Error("the directory of a killed process is still there")
	}
}

// TestSweepOfOldOnes: directories without an owner are removed when they are old.
func TestSweepOfOldOnes(t *testing.T) {
	parent := t.TempDir()
	young, old := filepath.Join(parent, "build-young"), filepath.Join(parent, "build-old")
	for _, dir := range []string{young, old} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-3 * 24 * time.Hour)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	Sweep(parent, time.Now(), "build-")
	if !exists(young) || exists(old) {
		t.Errorf("young is there: %v, old is there: %v", exists(young), exists(old))
	}
}

func TestRemove(t *testing.T) {
	d, err := Make(t.TempDir(), "capture-")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Remove(); err != nil || exists(d.Path) {
		t.Errorf("%v; it is there: %v", err, exists(d.Path))
	}
}
