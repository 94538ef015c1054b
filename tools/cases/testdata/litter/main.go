// Command litter answers requests with work of a kind, and when told to throws memory of a kind
// away before, or counts events. What the work costs more beside that is what
// `go run ./tools/cases -litter` is after.
package main

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"html/template"
	"io"
	"log"
	"net/http"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

type point struct {
	Day   int     `json:"day"`
	Price float64 `json:"price"`
	Name  string  `json:"name"`
}

// data is what the works read.
type data struct {
	text   string
	table  map[string]int
	keys   []string
	points []point
	next   atomic.Int64
}

func newData() *data {
	d := &data{table: map[string]int{}}
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "10.0.0.%d GET /item/%d 200 %d ok\n", i%256, i*7919%1000, i*31)
	}
	d.text = b.String()
	for i := range 200_000 {
		key := "key" + strconv.Itoa(i)
		d.table[key] = i
		d.keys = append(d.keys, key)
	}
	for i := range 12 {
		d.points = append(d.points, point{i, float64(i) * 1.25, "name" + strconv.Itoa(i)})
	}
	return d
}

const list = `[{"day":1,"price":2.5,"name":"a"},{"day":2,"price":3.5,"name":"b"},{"day":3,"price":4.5,"name":"c"}]`

// works are kinds of work, each with an answer in the buffer.
func works(d *data) map[string]func(b *bytes.Buffer) {
	view := template.Must(template.New("list").Parse(`<ul>{{range .}}<li>{{.Name}} {{.Price}}{{end}}</ul>`))
	line := regexp.MustCompile(`(\d+) ok`)
	writers := sync.Pool{New: func() any { w, _ := flate.NewWriter(io.Discard, flate.BestSpeed); return w }}
	return map[string]func(b *bytes.Buffer){
		"json":   func(b *bytes.Buffer) { json.NewEncoder(b).Encode(d.points) },
		"decode": func(b *bytes.Buffer) { b.WriteString(strconv.Itoa(decode())) },
		"page":   func(b *bytes.Buffer) { view.Execute(b, d.points[:4]) },
		"map": func(b *bytes.Buffer) {
			n, at := 0, int(d.next.Add(7919))
			for i := range 200 {
				n += d.table[d.keys[(at+i*6007)%len(d.keys)]]
			}
			b.WriteString(strconv.Itoa(n))
		},
		"lines": func(b *bytes.Buffer) {
			n := 0
			for l := range strings.Lines(d.text) {
				_, rest, _ := strings.Cut(l, " ")
				n += len(rest) + strings.Count(rest, "0")
			}
			b.WriteString(strconv.Itoa(n))
		},
		"sort": func(b *bytes.Buffer) {
			var values [512]int
			at := int(d.next.Add(7919))
			for i := range values {
				values[i] = (at + i*6007) % 1009
			}
			slices.Sort(values[:])
			b.WriteString(strconv.Itoa(values[7]))
		},
		"flate": func(b *bytes.Buffer) {
			w := writers.Get().(*flate.Writer)
			defer writers.Put(w)
			w.Reset(b)
			io.WriteString(w, d.text[:4000])
			w.Close()
		},
		"regexp": func(b *bytes.Buffer) {
			for i := range 4 {
				b.WriteString(strconv.FormatBool(line.MatchString(d.text[i*100 : i*100+200])))
			}
		},
		"hash": func(b *bytes.Buffer) {
			sum := sha256.Sum256([]byte(d.text[:2000]))
			b.Write(sum[:])
		},
	}
}

func decode() int {
	var points []point
	if err := json.Unmarshal([]byte(list), &points); err != nil {
		return 0
	}
	return len(points)
}

type node struct {
	next *node
	n    int
	_    [4]int
}

// strew throws n pieces away.
//
//go:noinline
func strew(kind string, n int, keep func(any)) {
	var last *node
	for i := range n {
		switch kind {
		case "numbers":
			x := new(int64)
			*x = int64(i)
			keep(x)
		case "texts":
			keep(strings.Repeat("x", 20+i%50))
		case "nodes":
			last = &node{next: last, n: i}
		case "buffers":
			keep(make([]byte, 1024+i%3*1024))
		}
	}
	keep(last)
}

// counters count events by two labels.
type counters struct {
	vec  *prometheus.CounterVec
	kept [numbers][len(names)]prometheus.Counter // all children
	next atomic.Int64
}

// numbers and names make 8,000 children, as many as the benchmark has from which the rule metric-label-per-call
// has its figures.
const numbers = 800

var names = [10]string{"head", "level", "pairs", "mask", "rename", "order", "took", "drop", "user", "mail"}

func newCounters() *counters {
	c := &counters{vec: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "events_total"}, []string{"number", "name"})}
	for i := range c.kept {
		for j, name := range names {
			c.kept[i][j] = c.vec.WithLabelValues(strconv.Itoa(i), name)
		}
	}
	return c
}

// look counts n events by their labels.
//
//go:noinline
func (c *counters) look(n int) {
	for i := range n {
		at := int(c.next.Add(7919))
		c.vec.WithLabelValues(strconv.Itoa(at%numbers), names[i%len(names)]).Inc()
	}
}

// keep counts n events in the children that it kept.
//
//go:noinline
func (c *counters) keep(n int) {
	for i := range n {
		at := int(c.next.Add(7919))
		c.kept[at%numbers][i%len(names)].Inc()
	}
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen")
	work := flag.String("work", "json", "kind of work")
	kind := flag.String("kind", "numbers", "kind of litter: numbers, texts, nodes or buffers; or labels or kept, events that are counted so")
	n := flag.Int("n", 0, "pieces of litter, or events, a request")
	gogc := flag.Int("gogc", 0, "percent for the collector; 0 leaves it alone")
	flag.Parse()
	if *gogc > 0 {
		debug.SetGCPercent(*gogc)
	}
	answer := works(newData())[*work]
	if answer == nil {
		log.Fatalf("no work %q", *work)
	}
	buffers := sync.Pool{New: func() any { return new(bytes.Buffer) }}
	keep := func(any) {}
	if *addr == "" { // never: but the compiler must not know where litter goes
		var all []any
		keep = func(x any) { all = append(all, x) }
	}
	var c *counters
	if *kind == "labels" || *kind == "kept" {
		c = newCounters()
	}
	log.Fatal(http.ListenAndServe(*addr, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch *kind {
		case "labels":
			c.look(*n)
		case "kept":
			c.keep(*n)
		default:
			strew(*kind, *n, keep)
		}
		b := buffers.Get().(*bytes.Buffer)
		defer buffers.Put(b)
		b.Reset()
		answer(b)
		w.Write(b.Bytes())
	})))
}
