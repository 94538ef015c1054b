package main

import "fmt"

// fixable is a program of examples/promises, with the repairs that its build tags apply.
type fixable struct {
	name    string
	program program // unchanged, with all its mistakes
	fixes   []fix
}

// fix is one repair: the build tag fix_NAME, and the finding that must predict its saving.
type fix struct {
	name    string
	metric  string // "cpu", or "wall" for the mean latency at so many connections
	culprit culprit
}

// variants returns the programs to measure: unchanged, with each repair and, if there are several,
// with all of them.
func (f fixable) variants() []program {
	list := []program{f.program}
	var all []string
	for _, x := range f.fixes {
		p := f.program
		p.tags = []string{"fix_" + x.name}
		all = append(all, p.tags...)
		list = append(list, p)
	}
	if len(all) > 1 {
		p := f.program
		p.tags = all
		list = append(list, p)
	}
	return list
}

// cpuFix is a repair that saves CPU, for a finding of one of the rules in a function.
func cpuFix(name, function string, rules ...string) fix {
	return fix{name, "cpu", culprit{what: name, rules: rules, function: function}}
}

// lockFix is a repair of a lock.
func lockFix(name, function string) fix {
	return fix{name, "wall", culprit{what: name, rules: []string{"lock-convoy", "hot-mutex"}, function: function}}
}

// fixables are the programs of examples/promises.
func fixables() []fixable {
	service := func(name string, fixes ...fix) fixable {
		return fixable{name, program{name: name, dir: "promises/" + name, targets: "targets.txt", connections: 8}, fixes}
	}
	command := func(name string, fixes ...fix) fixable {
		return fixable{name, program{name: name, dir: "promises/" + name}, fixes}
	}
	benchmark := func(name, bench string, iterations int, fixes ...fix) fixable {
		return fixable{name, program{name: name, dir: "promises/" + name, bench: bench, iterations: iterations}, fixes}
	}
	const module = "example.com/promises/"
	return []fixable{
		service("orders",
			cpuFix("concat", "main.table", "concat-loop"),
			cpuFix("template", "main.renderPage", "template-parse-per-call")),
		service("search",
			cpuFix("invariant", "main.matching", "loop-invariant-call"),
			cpuFix("scan", "main.brands", "linear-scan"),
			cpuFix("regexp", "main.listed", "regexp-simple"),
			cpuFix("clock", "main.checked", "time-format-now")),
		service("inbox",
			cpuFix("json", "main.parse", "json-to-any"),
			cpuFix("debug", "main.(*inbox).isLabel", "log-args-boxed")),
		service("archive",
			cpuFix("gzip", "main.compress", "heavy-ctor-per-call")),
		service("quotes",
			lockFix("section", "main.(*book).quote")),
		service("sessions",
			lockFix("save", "main.(*sessions).visit")),
		command("logstat",
			cpuFix("writes", "main.report", "small-writes"),
			cpuFix("mapgrowth", "main.index", "map-growth")),
		command("wordgraph",
			cpuFix("runes", "main.letters", "rune-slice-range"),
			cpuFix("nodes", "main.nodes", "pointer-per-element")),
		benchmark("codec", "RoundTrip", 600,
			cpuFix("copies", module+"codec.putText", "string-bytes-copy"),
			cpuFix("growth", module+"codec.split", "slice-growth")),
		benchmark("invoice", "Render", 10000,
			cpuFix("tariff", module+"invoice.Render", "ctor-per-call"),
			cpuFix("sprintf", module+"invoice.key", "sprintf-simple"),
			cpuFix("replacer", module+"invoice.plainName", "replacer-per-call")),
	}
}

// chooseFixables picks programs by their names.
func chooseFixables(all []fixable, names []string) ([]fixable, error) {
	if len(names) == 0 {
		return all, nil
	}
	var chosen []fixable
	for _, name := range names {
		found := false
		for _, f := range all {
			if f.name == name {
				chosen, found = append(chosen, f), true
			}
		}
		if !found {
			return nil, fmt.Errorf("no program %q below examples/promises", name)
		}
	}
	return chosen, nil
}
