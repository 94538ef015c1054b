package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/internal/recording"
)

// interrupted holds what tests share that interrupt hone: the command, and a repository with the
// left-pad service.
type interrupted struct {
	hone, tree, cache, mark string
	writes                  bool // a command that finishes changes the tree
}

// TestInterrupt interrupts each command that starts processes, after a random time: once as a
// terminal does (the signal goes to the whole process group), once as a CI system does (to hone
// alone). Afterwards no process is left, the work directory is empty, the repository is unchanged,
// and what was recorded can be read.
func TestInterrupt(t *testing.T) {
	live.Only(t)
	s := newInterrupted(t)
	addr := freeAddress(t)
	service := func(words ...string) []string {
		return append(words, "-load", "http://"+addr+"/v1/leftpad/?str=hone&len=20", "-duration", "2s", "--", "-addr", addr)
	}
	for _, args := range [][]string{
		service("run", "."),
		{"run", "-bench", "Leftpad10", "-duration", "4s", "."},
		service("run", ".", "-prove", "1m"),
		service("try", ".", "-with", "GOGC=400", "-with", "git:HEAD", "-runs", "2"),
		service("tune", "gc", "."),
		service("tune", "pgo", "."),
		{"bench", "-bench", "Leftpad", "-budget", "6s", "."},
		{"bench", "-bench", "Leftpad", "-budget", "6s", "-against", "HEAD", "."},
		{"gate", "-bench", "Leftpad", "-budget", "6s", "-base", "HEAD", "."},
		{"noise", "-budget", "3s"},
		{"history", "bisect", "-budget", "4s", "-good", "HEAD~1", "Leftpad"},
		{"demo"},
	} {
		t.Run(strings.Join(args[:min(2, len(args))], " "), func(t *testing.T) {
			for i, scale := range []float64{0.3, 2, 8} {
				after := time.Duration((0.05 + rand.Float64()*scale) * float64(time.Second))
				s.interrupt(t, args, after, i%2 == 0)
				if t.Failed() {
					return
				}
			}
		})
	}
}

// TestInterruptFix interrupts commands that start from a recording, and those that write to the
// tree. The tree changes only if the command finished before the signal.
func TestInterruptFix(t *testing.T) {
	live.Only(t)
	s := newInterrupted(t)
	addr := freeAddress(t)
	rec := filepath.Join(t.TempDir(), "rec.hone")
	record := exec.Command(s.hone, "run", ".", "-o", rec, "-load", "http://"+addr+"/v1/leftpad/?str=hone&len=50", "-duration", "6s", "--", "-addr", addr)
	record.Dir, record.Env = s.tree, append(os.Environ(), "HONE_CACHE="+s.cache)
	if out, err := record.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, args := range [][]string{
		{"fix", rec, "-w", "-untried"},
		{"fix", rec, "-w", "-duration", "1s", "-runs", "2"},
		{"fix", rec, "-try"},
		{"prove", rec, "-ref", "HEAD~1"},
		{"tune", "deps", "-bench", "Leftpad10", "."},
	} {
		t.Run(strings.Join(append(args[:1:1], args[2:]...), " "), func(t *testing.T) {
			s.writes = slices.Contains(args, "-w")
			for i, scale := range []float64{0.3, 2, 4, 8, 12} {
				after := time.Duration((0.05 + rand.Float64()*scale) * float64(time.Second))
				s.interrupt(t, args, after, i%2 == 0)
				if t.Failed() {
					return
				}
				s.git(t, "checkout", "-q", ".")
			}
		})
	}
}

// freeAddress returns a loopback address at which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func newInterrupted(t *testing.T) *interrupted {
	t.Helper()
	dir := t.TempDir()
	s := &interrupted{hone: filepath.Join(dir, "hone"), tree: filepath.Join(dir, "tree"), cache: filepath.Join(dir, "cache"),
		mark: fmt.Sprintf("HONE_TEST_MARK=%d.%d", os.Getpid(), time.Now().UnixNano())}
	if out, err := exec.Command("go", "build", "-o", s.hone, ".").CombinedOutput(); err != nil {
		t.Fatalf("build hone: %v\n%s", err, out)
	}
	if err := os.Mkdir(s.cache, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(s.tree, os.DirFS(filepath.Join("..", "..", "examples", "leftpad", "before"))); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", "."}, {"add", "-A"}, {"commit", "-q", "-m", "first"}, {"commit", "-q", "--allow-empty", "-m", "second"},
	} {
		s.git(t, args...)
	}
	return s
}

func (s *interrupted) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", s.tree, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// interrupt runs hone and interrupts it. It reports whether hone had finished before.
func (s *interrupted) interrupt(t *testing.T, args []string, after time.Duration, group bool) (finished bool) {
	t.Helper()
	var output bytes.Buffer
	cmd := exec.Command(s.hone, args...)
	cmd.Dir = s.tree
	cmd.Env = append(os.Environ(), "HONE_CACHE="+s.cache, s.mark)
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Minute // a process that is left keeps the output open; it is reported below
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	pid := cmd.Process.Pid
	if group {
		pid = -pid
	}
	// The command may have finished before.
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Fatal(err)
	}
	err := cmd.Wait()
	what := fmt.Sprintf("hone %s, interrupted after %v (group: %v): %v\n%s", strings.Join(args, " "), after.Round(time.Millisecond), group, err, output.Bytes())
	switch code := cmd.ProcessState.ExitCode(); {
	case code < 0 && output.Len() == 0: // the signal came before hone could handle it
	case code != 0 && !strings.Contains(output.String(), "interrupt"):
		t.Errorf("hone does not say that it was interrupted: %s", what)
	}
	if strings.Contains(output.String(), "panic:") || strings.Contains(output.String(), "goroutine 1 [") {
		t.Errorf("hone crashed: %s", what)
	}
	for _, left := range s.processes(t) {
		t.Errorf("%s is left by %s", left, what)
	}
	entries, err := os.ReadDir(filepath.Join(s.cache, "work"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for _, e := range entries {
		t.Errorf("%s is left in the work directory by %s", e.Name(), what)
	}
	finished = cmd.ProcessState.ExitCode() == 0
	if status := s.git(t, "status", "--porcelain"); status != "" && !(finished && s.writes) {
		t.Errorf("the tree is\n%s after %s", status, what)
	}
	if trees := s.git(t, "worktree", "list"); strings.Count(trees, "\n") != 1 {
		t.Errorf("worktrees\n%s after %s", trees, what)
	}
	if err := filepath.WalkDir(s.cache, func(path string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".hone" {
			return err
		}
		r, err := recording.Open(path)
		if err != nil {
			return err
		}
		return r.Close()
	}); err != nil {
		t.Errorf("%v, after %s", err, what)
	}
	return finished
}

// processes lists the processes that have the mark in their environment, after waiting up to a
// second for them to exit.
func (s *interrupted) processes(t *testing.T) (left []string) {
	t.Helper()
	for range 20 {
		left = nil
		dirs, err := filepath.Glob("/proc/[0-9]*")
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			if env, err := os.ReadFile(filepath.Join(dir, "environ")); err == nil && bytes.Contains(env, []byte(s.mark)) {
				line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
				left = append(left, string(bytes.ReplaceAll(bytes.TrimRight(line, "\x00"), []byte{0}, []byte{' '})))
			}
		}
		if len(left) == 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return left
}
