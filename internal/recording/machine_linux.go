package recording

import (
	"bufio"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
)

func thisMachine() Machine {
	m := readMachine(os.DirFS("/"))
	m.Cores = runtime.NumCPU() // by this process's affinity
	return m
}

func throttled() (float64, bool) { return readThrottled(os.DirFS("/")) }

func machineCPU() (CPUTime, bool) { return readCPU(os.DirFS("/")) }

// userHZ is the unit of /proc/stat: USER_HZ, 100 on every port of Linux that Go
// has (proc(5), and the kernel's asm-generic/param.h).
const userHZ = 100

// readCPU sums the first line of /proc/stat: user, nice, system, then idle and
// iowait, which are left out, then irq, softirq and steal. Guest time is within user.
func readCPU(root fs.FS) (CPUTime, bool) {
	f := strings.Fields(readLine(root, "proc/stat"))
	if len(f) < 9 || f[0] != "cpu" {
		return CPUTime{}, false
	}
	var t CPUTime
	for i, text := range f[1:9] {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return CPUTime{}, false
		}
		switch i {
		case 3, 4:
			continue
		case 7:
			t.Stolen = n / userHZ
		}
		t.Busy += n / userHZ
	}
	return t, true
}

// readMachine reads /proc and /sys below root.
func readMachine(root fs.FS) Machine {
	m := Machine{
		CPU:         procField(root, "proc/cpuinfo", "model name"),
		Kernel:      readLine(root, "proc/sys/kernel/osrelease"),
		MemoryBytes: memTotal(root),
	}
	groups := readCgroups(root)
	m.CgroupCPUs = groups.cpus(root)
	m.CgroupBytes = groups.memory(root, m.MemoryBytes)
	return m
}

func memTotal(root fs.FS) int64 {
	kib, ok := strings.CutSuffix(procField(root, "proc/meminfo", "MemTotal"), " kB")
	n, err := strconv.ParseInt(strings.TrimSpace(kib), 10, 64)
	if !ok || err != nil {
		return 0
	}
	return n << 10
}

// procField returns the value of the first "key : value" line.
func procField(root fs.FS, name, key string) string {
	f, err := root.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for s.Scan() {
		k, v, ok := strings.Cut(s.Text(), ":")
		if ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func readLine(root fs.FS, name string) string {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}

// cgroups are the directories, from this process's cgroup up to the mount point,
// that limit it; every ancestor's limit holds too.
type cgroups struct {
	v2  []string
	cpu []string // v1
	mem []string // v1
}

// readCgroups joins /proc/self/cgroup (which group, cgroups(7)) with
// /proc/self/mountinfo (where it is mounted, proc_pid_mountinfo(5)).
func readCgroups(root fs.FS) cgroups {
	group := map[string]string{} // by controller; "" is v2
	text, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		for c := range strings.SplitSeq(f[1], ",") {
			group[c] = f[2]
		}
	}
	var g cgroups
	text, _ = fs.ReadFile(root, "proc/self/mountinfo")
	for line := range strings.Lines(string(text)) {
		before, after, ok := strings.Cut(line, " - ")
		mount, what := strings.Fields(before), strings.Fields(after)
		if !ok || len(mount) < 5 || len(what) < 3 {
			continue
		}
		from, point := mount[3], mount[4]
		switch what[0] {
		case "cgroup2":
			if p, ok := group[""]; ok {
				g.v2 = levels(from, point, p)
			}
		case "cgroup":
			for c := range strings.SplitSeq(what[2], ",") {
				p, ok := group[c]
				switch {
				case ok && c == "cpu":
					g.cpu = levels(from, point, p)
				case ok && c == "memory":
					g.mem = levels(from, point, p)
				}
			}
		}
	}
	return g
}

// levels lists the directories of group and its ancestors, when the hierarchy's
// directory from is mounted at point. In a container the group may be named from
// outside it; then only the mount point is known.
func levels(from, point, group string) []string {
	rel, ok := strings.CutPrefix(group, strings.TrimSuffix(from, "/"))
	if !ok || strings.Contains(rel, "..") {
		rel = "/"
	}
	var dirs []string
	for rel = path.Clean("/" + rel); ; rel = path.Dir(rel) {
		dirs = append(dirs, strings.TrimPrefix(path.Join(point, rel), "/"))
		if rel == "/" {
			return dirs
		}
	}
}

// cpus returns the smallest quota of all levels in CPUs, 0 for none.
func (g cgroups) cpus(root fs.FS) float64 {
	least := math.Inf(1)
	take := func(quota, period string) {
		q, err := strconv.ParseFloat(quota, 64) // "max" and "-1" are no quota
		p, perr := strconv.ParseFloat(period, 64)
		if err == nil && perr == nil && q > 0 && p > 0 {
			least = min(least, q/p)
		}
	}
	for _, dir := range g.v2 {
		if f := strings.Fields(readLine(root, dir+"/cpu.max")); len(f) == 2 {
			take(f[0], f[1])
		}
	}
	for _, dir := range g.cpu {
		take(readLine(root, dir+"/cpu.cfs_quota_us"), readLine(root, dir+"/cpu.cfs_period_us"))
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}

// memory returns the smallest memory limit of all levels in bytes, 0 for none
// below the machine's memory: v1 writes a huge number for "no limit".
func (g cgroups) memory(root fs.FS, machine int64) int64 {
	least := int64(math.MaxInt64)
	take := func(text string) {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 {
			least = min(least, n)
		}
	}
	for _, dir := range g.v2 {
		take(readLine(root, dir+"/memory.max"))
	}
	for _, dir := range g.mem {
		take(readLine(root, dir+"/memory.limit_in_bytes"))
	}
	if least >= 1<<62 || machine > 0 && least >= machine {
		return 0
	}
	return least
}

// readThrottled returns the largest throttled time of all levels: the same wait
// may be counted at several.
func readThrottled(root fs.FS) (float64, bool) {
	g := readCgroups(root)
	most, ok := 0.0, false
	take := func(dirs []string, key string, unit float64) {
		for _, dir := range dirs {
			text, err := fs.ReadFile(root, dir+"/cpu.stat")
			if err != nil {
				continue
			}
			for line := range strings.Lines(string(text)) {
				f := strings.Fields(line)
				if len(f) != 2 || f[0] != key {
					continue
				}
				if n, err := strconv.ParseFloat(f[1], 64); err == nil {
					most, ok = max(most, n*unit), true
				}
			}
		}
	}
	take(g.v2, "throttled_usec", 1e-6)
	take(g.cpu, "throttled_time", 1e-9)
	return most, ok
}

func clocks() (Clocks, bool) { return readClocks(os.DirFS("/")) }

// readClocks reads what cpufreq reports, in kHz.
func readClocks(root fs.FS) (c Clocks, ok bool) {
	files, err := fs.Glob(root, "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq")
	if err != nil {
		return c, false
	}
	for _, file := range files {
		khz, err := strconv.ParseFloat(readLine(root, file), 64)
		if err != nil || !(khz > 0) {
			continue
		}
		mhz := khz / 1000
		if !ok || mhz < c.Low {
			c.Low = mhz
		}
		c.High = max(c.High, mhz)
		if !ok {
			c.Governor = readLine(root, path.Join(path.Dir(file), "scaling_governor"))
		}
		ok = true
	}
	return c, ok
}
