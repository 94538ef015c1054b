// Package machineinfopercall finds calls on hot paths that ask the system for information that does
// not change while the program runs.
package machineinfopercall

import (
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is machine-info-per-call.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "machine-info-per-call",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "System asked again for the host name or the network interfaces",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// A value that was read before costs nothing; addresses are read again once in a
				// while.
				Fraction:    rule.Fraction{Expect: 0.99, Low: 0.9, High: 1},
				Specificity: 1,
				Removes:     true,
			},
			Start: finder.Calls{Functions: functions()},
			Judge: judge,
		},
	}
}

const doc = `The host name, the network interfaces and the build information of a program change
seldom or never, but the standard library keeps none of them: each call asks the
kernel or parses a text again. os.Hostname is a system call or the read of a file;
net.InterfaceAddrs opens a netlink socket and reads a table from it.

Read them once at the start, or with sync.OnceValue at the first use. For addresses
that may change, let one goroutine read them every minute.

It is fine at the start, and where the answer must be current. The rule reports
calls that run for at least one request in twenty, or a hundred times in each
run of a program that exits.

Seen in the field: intelsdi-x/snap#1214 (the host name for each collected metric),
DataDog/datadog-agent#567.`

// subject returns what a function reads, and whether that can change while the program runs.
func subject(name string) (what string, changes bool) {
	switch name {
	case "os.Hostname":
		return "the host name", true
	case "net.Interfaces", "net.InterfaceByName", "net.InterfaceByIndex":
		return "the network interfaces", true
	case "net.InterfaceAddrs", "(*net.Interface).Addrs":
		return "the addresses of network interfaces", true
	case "runtime/debug.ReadBuildInfo":
		return "the build information", false
	}
	return "what the system is", true
}

// functions are the functions that the rule searches for, as profiles name them. Those of other
// modules read files of /proc and /sys.
func functions() []string {
	return []string{
		"os.Hostname", "net.Interfaces", "net.InterfaceAddrs", "net.InterfaceByName", "net.InterfaceByIndex", "net.(*Interface).Addrs", "runtime/debug.ReadBuildInfo",
		"github.com/shirou/gopsutil/*/host.Info*", "github.com/shirou/gopsutil/*/cpu.Info*", "github.com/shirou/gopsutil/*/cpu.Counts*",
	}
}

func judge(c *finder.Case) bool {
	if !loops.PerCall(c.Place, c.Calls[0]) {
		return false
	}
	e, ok := evidence.Executions(c.Pass, c.Site.Frame)
	if !ok || !evidence.Hot(c.Pass, e) {
		return false
	}
	name := c.Name()
	what, changes := subject(name)
	how, fix := "never changes while the program runs", "Read it once at the start, or with sync.OnceValue at the first use."
	if changes {
		how, fix = "stays the same for hours or longer", "Read it once at the start and keep it; if it may change, let one goroutine read it again every minute."
	}
	c.Cause = fmt.Sprintf("%s asks the system again for %s, %s per %s. The answer %s, but no call keeps it for the next one.",
		symbol.Short(name), what, evidence.Times(e.PerUnit), c.Pass.Manifest.Unit(), how)
	c.Fix = fix
	return true
}
