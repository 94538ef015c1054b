package cli

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
)

func checkTrace(f *figuresTest, _ string) {
	r := f.json("trace", "overview", "-json", "-columns=500", f.path)
	t, width := r.at("totals"), r.num("to_ns")-r.num("from_ns")
	var want [][]string
	for _, s := range [][2]string{{"running", "running_seconds"}, {"ready, not running", "runnable_seconds"}, {"in system calls", "syscall_seconds"}, {"blocked", "waiting_seconds"}, {"garbage collection running", "gc_seconds"}, {"the world stopped", "stopped_seconds"}} {
		x := t.num(s[1])
		want = append(want, []string{s[0], shownNanoseconds(x * 1e9), shownDigits(x / (width / 1e9))})
	}
	f.rows("trace", 0, want)
	next := 1
	if requests := r.at("requests"); requests.is() {
		f.texts("trace", f.pages["trace"].Text, shownDigits(requests.num("count"))+" requests finished in it")
		got := f.pages["trace"].Tables[1][1:]
		for i, x := range requests.at("slowest").list() {
			if want := []string{fmt.Sprintf("#%v", int(x.num("id"))), shownNanoseconds(x.num("latency_ns"))}; got[i][0] != want[0] || got[i][1] != want[1] {
				f.t.Errorf("trace: request %q, the command says %q", got[i], want)
			}
		}
		next++
	}
	want = nil
	for _, g := range r.at("groups").list() {
		want = append(want, []string{shownNanoseconds(g.num("running_seconds") * 1e9), shownPercent(g.num("running_seconds") / max(t.num("running_seconds"), math.SmallestNonzeroFloat64)), g.str("name")})
	}
	f.rows("trace", next, want)
}

func checkSummary(f *figuresTest, _ string) {
	r := f.json("trace", "summary", "-json", f.path)
	f.texts("summary", fmt.Sprint(f.pages["summary"].Figures), shownSeconds(r.num("length_seconds")), shownDigits(r.num("events")), shownDigits(r.num("goroutines")),
		shownDigits(r.num("mean_running"))+" on average", fmt.Sprintf("%s of %v", shownDigits(r.num("mean_busy")), r.num("gomaxprocs")))
	var want [][]string
	for _, x := range r.at("goroutine_time").list() {
		want = append(want, []string{shownSeconds(x.num("seconds")), shownDigits(x.num("count")), shownSeconds(x.num("max_seconds")), x.str("what"), x.str("why")})
	}
	f.rows("summary", 0, want)
	for _, m := range r.at("remarks").list() {
		f.texts("summary", f.pages["summary"].Text, m.str("text"))
	}
}

// partsOf writes the parts of a request's time that are more than a hundredth of it.
func partsOf(list []jsonValue, total float64) string {
	var words []string
	for _, p := range list {
		if p.num("ns") > total/100 {
			words = append(words, p.str("part")+" "+shownPercent(p.num("ns")/total))
		}
	}
	return strings.Join(words, ", ")
}

func checkRequests(f *figuresTest, slowest string) {
	r := f.json("trace", "requests", "-json", f.path)
	f.texts("requests", f.pages["requests"].Text, shownDigits(r.num("count"))+" requests")
	if all := r.at("all"); all.is() {
		l := all.at("latency")
		f.texts("requests", f.pages["requests"].Text, fmt.Sprintf("p50 %s · p99 %s · max %s", shownSeconds(l.num("p50")), shownSeconds(l.num("p99")), shownSeconds(l.num("max"))))
	}
	var routes [][]string
	for _, x := range r.at("routes").list() {
		routes = append(routes, []string{shownDigits(x.num("count")), shownSeconds(x.num("latency", "p50")), shownSeconds(x.num("latency", "p99")), partsOf(x.at("parts").list(), x.num("ns")), x.str("name")})
	}
	f.rows("requests", 0, routes)
	var slow [][]string
	for _, x := range r.at("slowest").list() {
		wait := ""
		if w := x.at("waits").index(0); w.is() {
			wait = w.str("part") + " " + shownNanoseconds(w.num("ns")) + " "
			if at := w.at("waiter"); at.is() {
				wait += "at " + at.str("function") + " " + baseName(at.str("file")) + ":" + shownLine(at)
			}
		}
		slow = append(slow, []string{fmt.Sprintf("#%v", int(x.num("id"))), shownNanoseconds(x.num("latency_ns")), partsOf(x.at("parts").list(), x.num("latency_ns")), x.str("route"), wait})
	}
	f.rows("requests", 1, slow)
	if f.path == f.k.service && slowest == "0" {
		f.t.Error("the service has no requests")
	}
}

func checkRequest(f *figuresTest, slowest string) {
	if slowest == "0" {
		return
	}
	r := f.json("trace", "critical", "-json", "-request="+slowest, f.path)
	q := r.at("request")
	f.texts("request", f.pages["request"].Text, "Request #"+slowest+": "+shownNanoseconds(q.num("latency_ns")))
	f.texts("request", fmt.Sprint(f.pages["request"].Figures), shownNanoseconds(q.num("queued_ns")), shownNanoseconds(q.num("head_ns")), shownNanoseconds(q.num("handler_ns")), shownNanoseconds(q.num("after_ns")))
	steps, segments := r.at("path", "steps").list(), r.at("path", "segments").list()
	for table, list := range [][]jsonValue{steps, segments} {
		got := f.pages["request"].Tables[table][1:]
		if len(got) != len(list) || len(list) == 0 {
			f.t.Fatalf("request: %d rows in table %d, the command has %d", len(got), table, len(list))
		}
		for i, s := range list {
			want := []string{shownNanoseconds(s.num("ns")), shownPercent(s.num("share")), s.str("part")}
			if table == 1 {
				want = []string{shownNanoseconds(s.num("begin_ns") - r.num("path", "begin_ns")), shownNanoseconds(s.num("ns")), "", strconv.Itoa(int(s.num("goroutine")))}
			}
			for k := range want {
				if got[i][k] != want[k] {
					f.t.Errorf("request, table %d: %q, the command says %q", table, got[i], want)
					break
				}
			}
			if at := s.at("line"); at.str("function") != "" {
				f.texts("request", strings.Join(got[i], "|"), at.str("function")+" "+baseName(at.str("file"))+":"+shownLine(at))
			}
		}
	}
}

func checkLoad(f *figuresTest, _ string) {
	m := f.k.manifest(f.t, f.path)
	var want [][]string
	latency := func(p jsonValue) jsonValue {
		if p.at("latency").is() {
			return p.at("latency")
		}
		return p.at("service")
	}
	seconds := func(x float64) string {
		if x == 0 {
			return ""
		}
		return shownSeconds(x)
	}
	for _, p := range m.at("phases").list() {
		if p.num("requests") == 0 {
			continue
		}
		failed := "0"
		if n := p.num("failed"); n != 0 {
			failed = shownDigits(n) + ", " + shownPercent(n/p.num("requests"))
		}
		l := latency(p)
		want = append(want, []string{p.str("name"), shownDigits(p.num("requests")), failed, shownDigits(p.num("missed")), seconds(l.num("p50")), seconds(l.num("p99")), seconds(l.num("max")), seconds(p.num("lag", "p99")), p.str("verdict")})
	}
	if len(want) > 0 {
		f.rows("load", 0, want)
	}
	// Each window of each phase is a point of the plots.
	titles := strings.Join(f.pages["load"].Titles, "\n")
	points := 0
	for _, p := range m.at("phases").list() {
		if p.str("name") == "counts" || p.str("name") == "inputs" {
			continue
		}
		for _, w := range p.at("windows").list() {
			if n := w.num("requests"); n > 0 && w.num("seconds") > 0 {
				points++
				f.texts("load", titles, "rate: "+shownDigits(n/w.num("seconds"))+" in "+p.str("name"),
					"CPU: "+shownSeconds(w.num("cpu_seconds")/n)+" in "+p.str("name"), "bytes: "+shownBytes(w.num("alloc_bytes")/n)+" in "+p.str("name"))
			}
			for _, q := range []string{"p50", "p90", "p99"} {
				if w.at("quantiles").is() {
					f.texts("load", titles, q+": "+shownSeconds(w.num("quantiles", q))+" in "+p.str("name"))
				}
			}
		}
	}
	if f.path == f.k.service && points == 0 {
		f.t.Errorf("load of %s: no windows with requests", filepath.Base(f.path))
	}
}
