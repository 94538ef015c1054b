package gocode

import (
	"fmt"
	"slices"
	"strings"
)

// HarmlessFlags returns those of a build's flags that neither run a program nor write a file, and
// the names of the others. A recording contains the flags that its target was built with, and it
// may come from anywhere: with -toolexec it would choose what runs on this machine.
func HarmlessFlags(flags []string) (kept, refused []string) {
	for _, f := range parseBuildFlags(flags) {
		if f.harmless() {
			kept = append(kept, f.String())
		} else {
			refused = append(refused, "-"+f.name)
		}
	}
	return kept, refused
}

// harmless reports whether a flag neither runs a program nor writes a file, whatever its value.
func (f buildFlag) harmless() bool {
	switch f.name {
	case "race", "msan", "asan", "trimpath", "tags", "buildmode", "mod", "modfile", "overlay", "pgo", "cover", "covermode",
		"coverpkg", "installsuffix", "linkshared", "buildvcs", "a", "v", "p":
		return true
	case "compiler":
		return f.value == "gc"
	case "gcflags":
		return harmlessWords(f.value, "N", "l", "B", "S", "c", "d", "e", "lang", "m", "spectre", "+") &&
			!strings.Contains(f.value, "ssa/") // -d=ssa/PHASE/dump writes files
	case "ldflags":
		return harmlessWords(f.value, "s", "w", "X", "B", "H", "R", "T", "buildid", "compressdwarf", "linkmode", "checklinkname", "aslr")
	}
	return false
}

// harmlessWords reports whether all flags within the value of -gcflags or -ldflags have one of the
// names.
func harmlessWords(value string, names ...string) bool {
	for _, word := range parseGcflag(value).flags {
		name := strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-")
		if name == word {
			if i := strings.IndexByte(word, '='); i > 0 && !strings.ContainsAny(word[:i], `/\`) {
				continue // what -X sets
			}
			return false
		}
		name, _, _ = strings.Cut(name, "=")
		if trimmed := strings.TrimRight(name, "0123456789"); !slices.Contains(names, name) && !slices.Contains(names, trimmed) {
			return false
		}
	}
	return true
}

// RefusedFlags says which build flags HarmlessFlags refused, and why.
func RefusedFlags(refused []string) string {
	return fmt.Sprintf("the target was built with %s: not used to read its code, since a recording must not choose what runs here", strings.Join(refused, ", "))
}
