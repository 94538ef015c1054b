package target

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// process finds the service's process on this machine: the one that listens at the URL's port, if
// it is also the one that answers there (and not the end of a tunnel or a proxy). heap is a heap
// profile of the service, or nil.
func (r *Remote) process(ctx context.Context, heap []byte) (int, *Missing) {
	no := func(why string) (int, *Missing) {
		return 0, &Missing{What: "CPU time and memory of the service", Why: why, How: "run hone on the service's machine, as its user"}
	}
	ctx, cancel := context.WithTimeout(ctx, attachTimeout)
	defer cancel()
	port := r.base.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[r.base.Scheme]
	}
	if !local(ctx, r.base.Hostname()) {
		return no("it runs on another machine")
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return no("its port is not a number")
	}
	pids, err := listeners(number)
	switch {
	case err != nil:
		return no(err.Error())
	case len(pids) == 0:
		return no("no process of this user listens at its port")
	case len(pids) > 1:
		return no(fmt.Sprintf("%d processes listen at its port", len(pids)))
	case !r.isProcess(ctx, pids[0], heap):
		return no(fmt.Sprintf("process %d, which listens at its port, passes requests on to another", pids[0]))
	}
	return pids[0], nil
}

// local reports whether the host is this machine.
func local(ctx context.Context, host string) bool {
	addrs, err := new(net.Resolver).LookupIPAddr(ctx, host)
	if err != nil || len(addrs) == 0 {
		return false
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return addrs[0].IP.IsLoopback()
	}
	return !slices.ContainsFunc(addrs, func(a net.IPAddr) bool {
		return !a.IP.IsLoopback() && !slices.ContainsFunc(own, func(o net.Addr) bool {
			n, ok := o.(*net.IPNet)
			return ok && n.IP.Equal(a.IP)
		})
	})
}

// isProcess reports whether the answers come from that process: its command line matches the
// cmdline endpoint, or its executable is mapped in the heap profile.
func (r *Remote) isProcess(ctx context.Context, pid int, heap []byte) bool {
	if a, err := r.get(ctx, "cmdline", nil); err == nil {
		defer a.Close()
		said, err := a.read(1 << 20)
		own, owned := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && owned == nil && a.status == 200 && len(own) > 0 {
			return bytes.Equal(bytes.TrimRight(own, "\x00"), bytes.TrimRight(said, "\x00"))
		}
	}
	exe, err := os.Readlink(executable(pid))
	if err != nil || heap == nil {
		return false
	}
	z, err := gzip.NewReader(bytes.NewReader(heap))
	if err != nil {
		return false
	}
	text, err := io.ReadAll(io.LimitReader(z, 64<<20))
	return err == nil && bytes.Contains(text, []byte(exe))
}

// executable is a path under which a process's program can be read.
func executable(pid int) string { return fmt.Sprintf("/proc/%d/exe", pid) }

// startTime distinguishes a process from another with the same id: clock ticks since the machine's
// start, 0 when there is no such process.
func startTime(pid int) uint64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return 0
	}
	ticks, _ := strconv.ParseUint(fields[19], 10, 64)
	return ticks
}

// listeners are the processes of this user that listen at a TCP port.
func listeners(port int) ([]int, error) {
	inodes := map[string]bool{}
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		data, err := os.ReadFile(file)
		if err != nil && file == "/proc/net/tcp" {
			return nil, err
		}
		for _, inode := range listening(string(data), port) {
			inodes["socket:["+inode+"]"] = true
		}
	}
	if len(inodes) == 0 {
		return nil, nil
	}
	var pids []int
	dirs, err := filepath.Glob("/proc/[0-9]*/fd")
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(attachTimeout)
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
		if err == nil && holds(dir, inodes) {
			pids = append(pids, pid)
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("this machine has too many processes to look through")
		}
	}
	return pids, nil
}

// holds reports whether one of the descriptors in dir is one of the sockets.
func holds(dir string, sockets map[string]bool) bool {
	fds, err := os.ReadDir(dir)
	if err != nil {
		return false // another user's
	}
	for _, fd := range fds {
		if to, err := os.Readlink(filepath.Join(dir, fd.Name())); err == nil && sockets[to] {
			return true
		}
	}
	return false
}

// listening reads a table of /proc/net: the inodes of sockets that listen (state
// 0A) at the port.
func listening(table string, port int) []string {
	var inodes []string
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 10 || f[3] != "0A" {
			continue
		}
		_, hexPort, ok := strings.Cut(f[1], ":")
		b, err := hex.DecodeString(hexPort)
		if ok && err == nil && len(b) == 2 && int(b[0])<<8|int(b[1]) == port {
			inodes = append(inodes, f[9])
		}
	}
	return inodes
}
