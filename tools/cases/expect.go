package main

// study is a case study: programs, the culprits that must be found in each, and repairs to measure.
type study struct {
	id, name string
	programs []program
	repairs  []repair
}

// program is one way to build and drive an example.
type program struct {
	name string // in the tables
	dir  string // below examples
	args []string
	tags []string // of the build

	// A benchmark is a pattern for -test.bench, with the iterations that take about a second.
	bench      string
	iterations int

	// A service takes its address from the flag -addr. It has a targets file in its directory or a
	// path to GET; a program with neither exits by itself.
	targets     string
	get         string
	addrFlag    string // "" for -addr
	rate        float64
	connections int // with a rate, the maximum: the load must not overwhelm an overloaded service

	culprits []culprit
}

func (p program) isService() bool { return p.targets != "" || p.get != "" }

// culprit is an expected finding, a row of the table. Every field that is not empty must match.
type culprit struct {
	what     string   // in the tables
	rules    []string // one of them
	function string   // pattern of path.Match
	file     string   // relative to its module
	source   string   // part of one of the finding's lines
	module   string
	version  string
	says     string // text in the fix
	setting  bool   // advice on configuration: not ranked with the culprits in code
}

// repair is a pair of a study's programs, by name.
type repair struct {
	before, after string
	metric        string // of compare.Recordings: "cpu" or "wall"
}

// perRequest is the repair of the cases with a program before and one after.
var perRequest = []repair{{"before", "after", "cpu"}}

// studies are the case studies in the order of their letters.
func studies() []study {
	return []study{leftpad(), partitioner(), compress(), mandelbrot(), logparser()}
}

func leftpad() study {
	const module = "example.com/leftpad"
	send := func(what, rule, source string) culprit {
		return culprit{
			what: what, rules: []string{rule}, function: "main.(*StatsD).Send",
			file: "statsd.go", source: source, module: module,
		}
	}
	log := func(function, source string) culprit {
		return culprit{
			what: "`log.Printf` directly to a file, " + function, rules: []string{"unbuffered-log"},
			// The compiler names a closure after the function that it was inlined into.
			function: "main.*" + function + ".func*", file: "handlers.go", source: source, module: module,
		}
	}
	drive := func(name string, culprits ...culprit) program {
		return program{
			name: name, dir: "leftpad/" + name, connections: 8,
			get: "/v1/leftpad/?str=test&len=50&chr=*", culprits: culprits,
		}
	}
	return study{"A", "left-pad service", []program{
		drive("before",
			culprit{
				what: "string concatenation in a loop", rules: []string{"concat-loop"}, function: "main.leftpad",
				file: "leftpad.go", source: "s = string(c) + s", module: module,
			},
			send("`fmt.Sprintf` ×3 a call", "sprintf-simple", "fmt.Sprintf"),
			send("`strings.NewReplacer` on every call", "replacer-per-call", "strings.NewReplacer"),
			send("`strconv.FormatFloat`", "format-then-append", "strconv.FormatFloat"),
			log("logged", "log.Printf"),
			log("timed", "log.Printf")),
		drive("after"),
	}, perRequest}
}

func partitioner() study {
	line := func(source string) culprit {
		return culprit{
			what: "debug line that is off, `" + source + "`", rules: []string{"log-args-boxed"},
			function: "main.(*Partitioner).Partition", file: "partitioner.go", source: source,
			module: "example.com/partitioner",
		}
	}
	drive := func(name string, culprits ...culprit) program {
		return program{
			name: name, dir: "partitioner/" + name, targets: "targets.txt", connections: 8, culprits: culprits,
		}
	}
	return study{"B", "metric ingest partitioner", []program{
		drive("before", line("hashed a series"), line("found its place")),
		drive("after"),
	}, perRequest}
}

func compress() study {
	drive := func(name string, culprits ...culprit) program {
		return program{
			name: name, dir: "compress/" + name, targets: "targets.txt", connections: 8, culprits: culprits,
		}
	}
	return study{"C", "feature-flag service behind chi", []program{
		drive("before", culprit{
			what: "chi makes a `flate.Writer` per response", rules: []string{"heavy-ctor-per-call"},
			function: "github.com/go-chi/chi/middleware.encoderDeflate", file: "middleware/compress.go",
			source: "flate.NewWriter", module: "github.com/go-chi/chi", version: "v3.3.4+incompatible",
			says: "v4.1.2+incompatible", // a candidate, not yet proved
		}),
		drive("after"),
	}, perRequest}
}

func mandelbrot() study {
	drive := func(mode string, culprits ...culprit) program {
		return program{name: mode, dir: "mandelbrot", args: []string{"-mode", mode}, culprits: culprits}
	}
	// A small picture: an overload must show up soon even with two cores, and one request per
	// second must be no load at all.
	serve := func(name string, rate float64, culprits ...culprit) program {
		return program{
			name: name, dir: "mandelbrot", args: []string{"-size", "256"}, get: "/mandelbrot", addrFlag: "-listen",
			rate: rate, connections: 12, culprits: culprits,
		}
	}
	found := func(what, rule, function, source string) culprit {
		return culprit{
			what: what, rules: []string{rule}, function: function, file: "modes.go", source: source,
			module: "example.com/mandelbrot",
		}
	}
	return study{"D", "Mandelbrot, six ways", []program{
		drive("seq", culprit{
			what: "one loop on one core", rules: []string{"serial-section"}, function: "main.paint*",
			module: "example.com/mandelbrot",
		}),
		drive("px", found("a goroutine per pixel", "work-unit-too-small", "main.paintPixelsApart*", "go func()")),
		drive("row"),
		drive("workers", found("a pixel each through an unbuffered channel", "channel-handoff", "main.paintByPixelWorkers*", "pixels")),
		drive("workers-buffered"),
		drive("workers-rows"),
		serve("service, 1 a second", 1),
		serve("service, overloaded", 200, culprit{
			what: "more requests than the cores can answer", rules: []string{"sched-latency"}, says: "admit only as many requests at a time as there are cores",
		}),
	}, []repair{
		{"seq", "row", "wall"},
		{"px", "row", "wall"},
		{"workers", "workers-rows", "wall"},
	}}
}

func logparser() study {
	const module = "example.com/logparser"
	drive := func(name string, culprits ...culprit) program {
		return program{
			name: name, dir: "logparser/" + name, targets: "targets.txt", connections: 8, culprits: culprits,
		}
	}
	return study{"E", "log-parsing service", []program{
		drive("before",
			culprit{
				what: "labels formatted and looked up for each execution", rules: []string{"metric-label-per-call"},
				function: "main.(*metrics).reportRuleExecution", file: "parser.go",
				source: "WithLabelValues(strconv.Itoa(customerID)", module: module,
			},
			culprit{what: "the collector works hard, memory is idle", rules: []string{"gc-cpu-spare-memory"}, setting: true}),
		drive("after"),
	}, perRequest}
}
