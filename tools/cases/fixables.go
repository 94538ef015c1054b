package main

import "fmt"

// fixable is a program of examples/promises with the repairs that its build tags make.
type fixable struct {
	name    string
	program program // as it stands, with all its mistakes
	fixes   []fix
}

// fix is one repair: the build tag fix_NAME, and the finding that must promise what it saves.
type fix struct {
	name    string
	metric  string // "cpu", or "wall" for the mean latency at so many connections
	culprit culprit
}

// variants are the programs to measure: as it stands, with each repair, and with all of them if
// there is more than one.
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

// of is a repair of CPU that a finding of one of the rules names in a function.
func of(name, function string, rules ...string) fix {
	return fix{name, "cpu", culprit{what: name, rules: rules, function: function}}
}

// ofLock is a repair of a lock.
func ofLock(name, function string) fix {
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
			of("concat", "main.table", "concat-loop"),
			of("template", "main.renderPage", "template-parse-per-call")),
		service("search",
			of("invariant", "main.matching", "loop-invariant-call"),
			of("scan", "main.brands", "linear-scan"),
			of("regexp", "main.listed", "regexp-simple"),
			of("clock", "main.checked", "time-format-now")),
		service("inbox",
			of("json", "main.parse", "json-to-any"),
			of("debug", "main.(*inbox).isLabel", "log-args-boxed")),
		service("archive",
			of("gzip", "main.compress", "heavy-ctor-per-call")),
		service("quotes",
			ofLock("section", "main.(*book).quote")),
		service("sessions",
			ofLock("save", "main.(*sessions).visit")),
		command("logstat",
			of("writes", "main.report", "small-writes"),
			of("mapgrowth", "main.index", "map-growth")),
		command("wordgraph",
			of("runes", "main.letters", "rune-slice-range"),
			of("nodes", "main.nodes", "pointer-per-element")),
		benchmark("codec", "RoundTrip", 600,
			of("copies", module+"codec.putText", "string-bytes-copy"),
			of("growth", module+"codec.split", "slice-growth")),
		benchmark("invoice", "Render", 10000,
			of("tariff", module+"invoice.Render", "ctor-per-call"),
			of("sprintf", module+"invoice.key", "sprintf-simple"),
			of("replacer", module+"invoice.plainName", "replacer-per-call")),
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
