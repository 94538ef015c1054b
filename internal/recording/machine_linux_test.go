package recording

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// tree returns a file system of names and contents.
func tree(files map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

func TestReadMachine(t *testing.T) {
	const v2mount = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
	tests := []struct {
		name      string
		files     map[string]string
		want      Machine
		throttled float64
		ok        bool
	}{
		{name: "nothing to read", files: nil},
		{
			name: "v2, limits of an ancestor",
			files: map[string]string{
				"proc/cpuinfo":                                  "processor\t: 0\nmodel name\t: Some CPU @ 2.00GHz\n",
				"proc/meminfo":                                  "MemTotal:        8000000 kB\nMemFree: 1 kB\n",
				"proc/sys/kernel/osrelease":                     "6.1.0\n",
				"proc/self/cgroup":                              "0::/user.slice/app.scope\n",
				"proc/self/mountinfo":                           v2mount,
				"sys/fs/cgroup/user.slice/app.scope/cpu.max":    "max 100000\n",
				"sys/fs/cgroup/user.slice/cpu.max":              "150000 100000\n",
				"sys/fs/cgroup/user.slice/app.scope/memory.max": "max\n",
				"sys/fs/cgroup/user.slice/memory.max":           "1073741824\n",
				"sys/fs/cgroup/user.slice/app.scope/cpu.stat":   "usage_usec 5\nthrottled_usec 0\n",
				"sys/fs/cgroup/user.slice/cpu.stat":             "usage_usec 5\nthrottled_usec 2500000\n",
			},
			want: Machine{CPU: "Some CPU @ 2.00GHz", MemoryBytes: 8000000 << 10, Kernel: "6.1.0",
				CgroupCPUs: 1.5, CgroupBytes: 1 << 30},
			throttled: 2.5, ok: true,
		},
		{
			name: "v1, in a container that sees its group at the mount point",
			files: map[string]string{
				"proc/meminfo":     "MemTotal: 1000 kB\n",
				"proc/self/cgroup": "4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n1:name=systemd:/docker/abc\n",
				"proc/self/mountinfo": "33 31 0:30 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro shared:9 - cgroup cgroup rw,cpu,cpuacct\n" +
					"35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
				"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":  "50000\n",
				"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
				"sys/fs/cgroup/cpu,cpuacct/cpu.stat":          "nr_periods 9\nnr_throttled 3\nthrottled_time 1500000000\n",
				"sys/fs/cgroup/memory/memory.limit_in_bytes":  "524288\n",
			},
			want:      Machine{MemoryBytes: 1000 << 10, CgroupCPUs: 0.5, CgroupBytes: 512 << 10},
			throttled: 1.5, ok: true,
		},
		{
			name: "v1 without limits",
			files: map[string]string{
				"proc/meminfo":        "MemTotal: 1000 kB\n",
				"proc/self/cgroup":    "4:memory:/\n3:cpu:/\n",
				"proc/self/mountinfo": "33 31 0:30 / /c rw - cgroup cgroup rw,cpu\n35 31 0:32 / /m rw - cgroup cgroup rw,memory\n",
				"c/cpu.cfs_quota_us":  "-1\n", "c/cpu.cfs_period_us": "100000\n",
				"m/memory.limit_in_bytes": "9223372036854771712\n",
			},
			want: Machine{MemoryBytes: 1000 << 10},
		},
		{
			name: "garbage",
			files: map[string]string{
				"proc/meminfo": "MemTotal: lots\n", "proc/self/cgroup": "x\n::\n0::/../..\n",
				"proc/self/mountinfo": " - \n1 2 3\n" + v2mount, "sys/fs/cgroup/cpu.max": "0 0\n", "sys/fs/cgroup/cpu.stat": "throttled_usec x\n",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := tree(tt.files)
			if d := cmp.Diff(tt.want, readMachine(root)); d != "" {
				t.Errorf("machine (-want +got):\n%s", d)
			}
			if s, ok := readThrottled(root); s != tt.throttled || ok != tt.ok {
				t.Errorf("throttled %v %v, want %v %v", s, ok, tt.throttled, tt.ok)
			}
		})
	}
}

func TestReadCPU(t *testing.T) {
	for name, tt := range map[string]struct {
		stat string
		want CPUTime
		ok   bool
	}{
		"all":     {"cpu  100 20 30 4000 500 6 7 80 9 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n", CPUTime{Busy: 2.43, Stolen: 0.8}, true},
		"garbage": {"cpu  100 x 30 4000 500 6 7 80 9 0\n", CPUTime{}, false},
		"short":   {"cpu  100 20 30\n", CPUTime{}, false},
		"none":    {"", CPUTime{}, false},
	} {
		if got, ok := readCPU(tree(map[string]string{"proc/stat": tt.stat})); got != tt.want || ok != tt.ok {
			t.Errorf("%s: %+v %v, want %+v %v", name, got, ok, tt.want, tt.ok)
		}
	}
}

func TestReadClocks(t *testing.T) {
	const cpu = "sys/devices/system/cpu/"
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  Clocks
		ok    bool
	}{
		{"a virtual machine", nil, Clocks{}, false},
		{"two cores", map[string]string{
			cpu + "cpu0/cpufreq/scaling_cur_freq": "2400000\n", cpu + "cpu0/cpufreq/scaling_governor": "powersave\n",
			cpu + "cpu1/cpufreq/scaling_cur_freq": "800000\n", cpu + "cpufreq/policy0/scaling_cur_freq": "1\n",
		}, Clocks{800, 2400, "powersave"}, true},
		{"no numbers", map[string]string{cpu + "cpu0/cpufreq/scaling_cur_freq": "<unknown>\n"}, Clocks{}, false},
	} {
		if got, ok := readClocks(tree(tt.files)); got != tt.want || ok != tt.ok {
			t.Errorf("%s: %+v, %v; want %+v, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}
