package capture

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"

	"github.com/hone-go/hone/histogram"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/load"
)

// loadSpec describes the load for the manifest.
func loadSpec(o *load.Options) *recording.Load {
	if o == nil {
		return nil
	}
	l := &recording.Load{Rate: o.Rate, Connections: o.Connections, Expect: o.Expect.String()}
	if l.Connections == 0 {
		l.Connections = load.DefaultConnections
	}
	for _, t := range o.Targets {
		method := t.Method
		if method == "" {
			method = "GET"
		}
		l.Targets = append(l.Targets, method+" "+t.URL)
	}
	l.Digest = digest(o.Targets)
	return l
}

// digest hashes what requests contain besides method and URL. Headers may hold secrets, and bodies
// may be long.
func digest(targets []load.Target) string {
	h := sha256.New()
	for _, t := range targets {
		fmt.Fprintf(h, "%q %d\n", t.Header, len(t.Body))
		h.Write(t.Body)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// loadAddrs lists the host:port pairs that the load goes to.
func loadAddrs(o *load.Options) ([]string, error) {
	var addrs []string
	for _, t := range o.Targets {
		u, err := url.Parse(t.URL)
		if err != nil {
			return nil, fmt.Errorf("load target: %w", err)
		}
		port := u.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
		}
		if u.Hostname() == "" || port == "" {
			return nil, fmt.Errorf("load target %q: no host and port to connect to", t.URL)
		}
		addr := net.JoinHostPort(u.Hostname(), port)
		if !slices.Contains(addrs, addr) {
			addrs = append(addrs, addr)
		}
	}
	return addrs, nil
}

// addLoad sums the windows' load results into the phase.
func (st *stretch) addLoad() {
	if len(st.loads) == 0 {
		return
	}
	sum := sumResults(st.loads)
	p := &st.phase
	p.Requests, p.Failed, p.Missed = sum.Requests, sum.Failed(), sum.Missed
	p.Latency, p.Service, p.Lag = quantiles(sum.Latency), quantiles(sum.Service), quantiles(sum.Lag)
	p.Verdict = sum.Verdict
	outcome := sum.Outcome()
	p.Outcome, p.Bodies = &outcome, sum.Bodies
	p.GeneratorCPUSeconds = sum.CPUSeconds
}

// keepsUp is the share of the due requests that a service must answer to keep up with a rate.
const keepsUp = 0.8

// overload returns a warning when a service falls behind the rate that it is asked for; "" when it
// keeps up, or when nothing piles up because there is no rate or the connections are bounded. A
// backlog makes every phase last longer and in the end drowns the service, so the warning comes
// before the phases start. Only the later half of the windows counts: a slow service answers late
// at first, and then at the rate.
func overload(o *load.Options, windows []*load.Result) string {
	windows = windows[len(windows)/2:]
	if o.Rate <= 0 || o.MaxConnections > 0 || len(windows) == 0 {
		return ""
	}
	var due, answers, seconds float64
	for _, w := range windows {
		answers += float64(w.Requests)
		seconds += w.Elapsed.Seconds()
	}
	due = o.Rate * seconds
	if answers >= keepsUp*due || due-answers < fewRequests {
		return ""
	}
	return fmt.Sprintf("%s of %s requests/s are answered, the others pile up on %d connections so far: limit those with -max_connections, or use a lower -rate",
		thousands(answers/seconds), thousands(o.Rate), windows[len(windows)-1].OpenConns)
}

// noteLoad notes what is wrong with the load of a phase.
func (r *recorder) noteLoad(st stretch) {
	if len(st.loads) == 0 {
		return
	}
	p, sum := st.phase, sumResults(st.loads)
	if sum.VerdictWhy != "" {
		r.note("load in phase %s: %s: %s", p.Name, sum.Verdict, sum.VerdictWhy)
	}
	if p.Missed > 0 {
		r.note("load in phase %s: %d scheduled requests were not sent or not answered", p.Name, p.Missed)
	}
	all, closed := p.Requests+sumErrors(sum), sum.Errors[load.ErrEOF]+sum.Errors[load.ErrReset]
	words := ""
	if closed > 0 {
		words = r.lastWords() // of a handler that panics
	}
	outcome := sum.Outcome()
	if trouble := outcome.Trouble(); trouble != "" {
		r.note("load in phase %s: %s%s", p.Name, trouble, words)
	} else if p.Failed*100 > all {
		r.note("load in phase %s: %d of %d requests failed: %s%s", p.Name, p.Failed, all, outcome.Failures(), words)
	}
}

// sumErrors counts the requests that got no answer at all.
func sumErrors(r *load.Result) (n int64) {
	for _, k := range r.Errors {
		n += k
	}
	return n
}

// sumResults adds up the windows of one load without changing them.
func sumResults(rs []*load.Result) *load.Result {
	sum := &load.Result{
		Start: rs[0].Start, Closed: rs[0].Closed, Rate: rs[0].Rate, Expect: rs[0].Expect,
		Status: map[int]int64{}, Errors: map[load.ErrorKind]int64{},
		Service: histogram.New(),
	}
	if !sum.Closed {
		sum.Latency, sum.Lag = histogram.New(), histogram.New()
	}
	for _, r := range rs {
		sum.Merge(r)
	}
	return sum
}

// quantiles reads a histogram of nanoseconds in seconds; nil when it is empty.
func quantiles(h *histogram.Histogram) *recording.Quantiles {
	if h == nil || h.Count() == 0 {
		return nil
	}
	q := func(q float64) float64 { return float64(h.Quantile(q)) / 1e9 }
	return &recording.Quantiles{P50: q(0.5), P90: q(0.9), P99: q(0.99), P999: q(0.999), Max: float64(h.Max()) / 1e9}
}

// loadText summarizes a part of the load in a few words.
func loadText(r *load.Result) string {
	s := r.Elapsed.Seconds()
	if s <= 0 {
		return ""
	}
	text := answered(r.Requests, s)
	if f := r.Failed(); f > 0 {
		text += fmt.Sprintf(", %d failed", f)
	}
	return text
}

// Below fewRequests a rate says little: the number of requests is printed instead.
const fewRequests = 20

// answered states how many requests there were in so many seconds.
func answered(requests int64, seconds float64) string {
	switch {
	case requests == 0:
		return fmt.Sprintf("no request answered in %.1f s", seconds)
	case requests == 1:
		return fmt.Sprintf("1 request in %.1f s", seconds)
	case requests < fewRequests:
		return fmt.Sprintf("%d requests in %.1f s", requests, seconds)
	}
	return thousands(float64(requests)/seconds) + " requests/s"
}

// perRequest writes seconds in the unit that fits.
func perRequest(seconds float64) string {
	if seconds >= 0.01 {
		return fmt.Sprintf("%.0f ms", 1e3*seconds)
	}
	return fmt.Sprintf("%.0f µs", 1e6*seconds)
}

// thousands writes 12400.3 as "12,400".
func thousands(f float64) string {
	if f < 100 {
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	digits := strconv.FormatFloat(f, 'f', 0, 64)
	var b []byte
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b = append(b, ',')
		}
		b = append(b, digits[i])
	}
	return string(b)
}

// loadLog writes the windows' histograms as an HdrHistogram interval log, with a tag for each
// series.
func loadLog(rs []*load.Result) ([]byte, error) {
	var all []histogram.Interval
	for _, r := range rs {
		for _, series := range []struct {
			tag string
			h   *histogram.Histogram
		}{{"latency", r.Latency}, {"service", r.Service}, {"lag", r.Lag}} {
			if series.h != nil {
				all = append(all, histogram.Interval{Tag: series.tag, Start: r.Start, Length: r.Elapsed, Hist: series.h})
			}
		}
	}
	var b bytes.Buffer
	if err := histogram.WriteLog(&b, all); err != nil {
		return nil, fmt.Errorf("write the histograms of the load: %w", err)
	}
	return b.Bytes(), nil
}
