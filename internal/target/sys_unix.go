//go:build unix

package target

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// ownGroup makes the command the leader of a process group of its own.
func ownGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}

func killGroup(p *os.Process) error { return signalGroup(p, syscall.SIGKILL) }

func signalGroup(p *os.Process, sig syscall.Signal) error {
	err := syscall.Kill(-p.Pid, sig)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// group is the process group of a target. It holds no state: the leader's id names it, and that id
// is not reused while the group has members.
type group struct{}

func (group) adopt(*os.Process)       {}
func (group) terminate(p *os.Process) { signalGroup(p, syscall.SIGTERM) }
func (group) kill(p *os.Process)      { killGroup(p) }

func exitSignal(st *os.ProcessState) string {
	if ws, ok := st.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal().String()
	}
	return ""
}

// maxRSS is the largest resident size of an ended process, in bytes.
func maxRSS(st *os.ProcessState) int64 {
	ru, ok := st.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(ru.Maxrss)
	}
	return int64(ru.Maxrss) * 1024
}

// line is the connection to the probe of a process that is about to start: one socket, which the
// process inherits as its first descriptor after stderr.
type line struct {
	in, out *os.File // hone's
	theirs  *os.File
	name    string // for the probe: the descriptors it reads and writes
}

func newLine(cmd *exec.Cmd) (*line, error) {
	syscall.ForkLock.RLock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	l := &line{theirs: os.NewFile(uintptr(fds[1]), "probe"), name: "3 3"}
	if err := syscall.SetNonblock(fds[0], true); err != nil {
		syscall.Close(fds[0])
		l.theirs.Close()
		return nil, os.NewSyscallError("setnonblock", err)
	}
	l.in = os.NewFile(uintptr(fds[0]), "hone")
	l.out = l.in
	cmd.ExtraFiles = []*os.File{l.theirs}
	return l, nil
}

func (l *line) closeTheirs() { l.theirs.Close() }

// Close closes hone's end.
func (l *line) Close() error { return l.in.Close() }
