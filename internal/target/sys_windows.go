package target

import (
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// ownGroup makes the command the leader of a console process group of its own.
func ownGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.CreationFlags |= windows.CREATE_NEW_PROCESS_GROUP
}

func killGroup(p *os.Process) error { return p.Kill() }

// group is a job object: its members are killed when the last handle to it is closed, at the latest
// when hone exits. A child that starts before the process is in the job is not covered.
type group struct {
	mu  sync.Mutex
	job windows.Handle
}

func (g *group) adopt(p *os.Process) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		err = assign(job, p.Pid)
	}
	if err != nil {
		windows.CloseHandle(job)
		return
	}
	g.mu.Lock()
	g.job = job
	g.mu.Unlock()
}

func assign(job windows.Handle, pid int) error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	return windows.AssignProcessToJobObject(job, h)
}

// terminate sends Ctrl-Break, which Go programs see as an interrupt.
func (g *group) terminate(p *os.Process) {
	windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.Pid))
}

func (g *group) kill(p *os.Process) {
	p.Kill()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		windows.TerminateJobObject(g.job, 1)
		windows.CloseHandle(g.job)
		g.job = 0
	}
}

// exitSignal is empty: Windows has no signals.
func exitSignal(*os.ProcessState) string { return "" }

// maxRSS is not available for an exited process.
func maxRSS(*os.ProcessState) int64 { return 0 }

// line is the connection to the probe of a process that is about to start: a pipe
// each way, whose handles the process inherits.
type line struct {
	in, out *os.File // hone's
	theirs  []*os.File
	name    string // for the probe: the handles it reads and writes
}

func newLine(cmd *exec.Cmd) (*line, error) {
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		theirIn.Close()
		ourOut.Close()
		return nil, err
	}
	l := &line{in: ourIn, out: ourOut, theirs: []*os.File{theirIn, theirOut}}
	l.name = strconv.Itoa(int(theirIn.Fd())) + " " + strconv.Itoa(int(theirOut.Fd()))
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	for _, f := range l.theirs {
		h := syscall.Handle(f.Fd())
		if err := syscall.SetHandleInformation(h, syscall.HANDLE_FLAG_INHERIT, syscall.HANDLE_FLAG_INHERIT); err != nil {
			l.closeTheirs()
			l.Close()
			return nil, os.NewSyscallError("SetHandleInformation", err)
		}
		cmd.SysProcAttr.AdditionalInheritedHandles = append(cmd.SysProcAttr.AdditionalInheritedHandles, h)
	}
	return l, nil
}

func (l *line) closeTheirs() {
	for _, f := range l.theirs {
		f.Close()
	}
}

// Close closes hone's ends.
func (l *line) Close() error {
	l.out.Close()
	return l.in.Close()
}
