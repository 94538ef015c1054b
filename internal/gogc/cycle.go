package gogc

import (
	"strconv"
	"strings"
)

// Cycle is one garbage collection, as the runtime prints it with GODEBUG=gctrace=1 (package
// runtime, "GODEBUG"). Sizes are in bytes (the runtime prints whole MiB), times in seconds.
type Cycle struct {
	Number                 int
	At                     float64 // since the program's start
	CPU                    float64 // of marking and of the pauses, including idle marking
	Start, End, Live, Goal float64 // of the heap: when marking starts, when it ends, what is marked; and the goal
	Stacks, Globals        float64 // that are scanned
	Forced                 bool
}

// ParseCycle reads such a line:
//
//	gc 7 @0.214s 3%: 0.021+1.2+0.004 ms clock, 0.042+0.3/0.9/0.1+0.008 ms cpu, 7->8->4 MB, 8 MB goal, 0 MB stacks, 0 MB globals, 2 P (forced)
func ParseCycle(line string) (Cycle, bool) {
	var c Cycle
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "gc ")
	if !ok {
		return c, false
	}
	head, rest, ok := strings.Cut(rest, ": ")
	number, at, ok2 := strings.Cut(head, " @")
	if !ok || !ok2 {
		return c, false
	}
	var err error
	if c.Number, err = strconv.Atoi(number); err != nil || c.Number <= 0 {
		return c, false
	}
	at, _, _ = strings.Cut(at, "s ")
	if c.At, ok = figure(at); !ok {
		return c, false
	}
	rest, c.Forced = strings.CutSuffix(rest, " (forced)")
	parts := strings.Split(rest, ", ")
	if len(parts) < 5 {
		return c, false
	}
	cpu, ok := strings.CutSuffix(parts[1], " ms cpu")
	if !ok {
		return c, false
	}
	for _, word := range strings.FieldsFunc(cpu, func(r rune) bool { return r == '+' || r == '/' }) {
		ms, ok := figure(word)
		if !ok {
			return c, false
		}
		c.CPU += ms / 1e3
	}
	sizes := strings.Split(strings.TrimSuffix(parts[2], " MB"), "->")
	if len(sizes) != 3 {
		return c, false
	}
	for i, to := range []*float64{&c.Start, &c.End, &c.Live} {
		if *to, ok = mib(sizes[i]); !ok {
			return c, false
		}
	}
	for _, p := range parts[3:] {
		words := strings.Fields(p)
		if len(words) != 3 || words[1] != "MB" {
			continue
		}
		size, ok := mib(words[0])
		if !ok {
			return c, false
		}
		switch words[2] {
		case "goal":
			c.Goal = size
		case "stacks":
			c.Stacks = size
		case "globals":
			c.Globals = size
		}
	}
	return c, c.Goal > 0
}

func figure(s string) (float64, bool) {
	x, err := strconv.ParseFloat(s, 64)
	return x, err == nil && x >= 0 && x < 1e15
}

// mib converts whole MiB, which the runtime rounds down, to bytes.
func mib(s string) (float64, bool) {
	x, ok := figure(s)
	return (x + 0.5) * (1 << 20), ok
}
