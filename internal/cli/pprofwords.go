package cli

import "strings"

// pprofWords translates a command line in which only `go tool pprof` was replaced: "-cum -top
// cpu.pprof" becomes "top -cum cpu.pprof", "-list=RE" becomes "list RE". Other command lines are
// returned unchanged.
func pprofWords(args []string) []string {
	if len(args) == 0 || !strings.HasPrefix(args[0], "-") {
		return args
	}
	for i, arg := range args {
		word, ok := strings.CutPrefix(arg, "-")
		if !ok {
			continue
		}
		word, value, hasValue := strings.Cut(strings.TrimPrefix(word, "-"), "=")
		command, needsValue := pprofReport(word)
		if command == "" {
			continue
		}
		words := strings.Fields(command)
		rest := args[i+1:]
		switch {
		case needsValue && hasValue:
			words = append(words, value)
		case needsValue && len(rest) > 0:
			words, rest = append(words, rest[0]), rest[1:]
		}
		words = append(words, args[:i]...)
		return append(words, rest...)
	}
	return args
}

// pprofReport returns the command for a report flag of pprof, with its flags, or "" if there is
// none, and whether the flag's value is an expression.
func pprofReport(flag string) (command string, needsValue bool) {
	switch flag {
	case "text":
		return "top", false
	case "weblist":
		return "list", true
	case "dot":
		return "graph -format=dot", false
	case "svg", "web":
		return "graph -format=svg", false
	case "list", "peek", "disasm":
		return flag, true
	case "top", "tree", "traces", "tags", "raw", "comments", "proto", "topproto", "callgrind":
		return flag, false
	}
	return "", false
}

// pprofHint returns a hint for pprof's name of a report, or "" for other words.
func pprofHint(word string) string {
	switch word {
	case "kcachegrind":
		return "; `hone callgrind -o FILE` writes what KCachegrind opens"
	case "png", "gif", "pdf", "ps", "gv", "evince", "eog":
		return "; `hone graph -o FILE.svg` draws the call graph"
	}
	if command, _ := pprofReport(word); command != "" {
		return "; that is `hone " + command + "`"
	}
	return ""
}
