package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

// This file is the same in ../before and ../after: both services give the same answers, and differ
// only in what they cost.

func newTestPartitioner(nodes int) *Partitioner {
	return NewPartitioner(nodeNames(nodes), NewLogger(io.Discard, LevelInfo))
}

// The index into the ring is only a shortcut: its answer equals that of a search from the start.
func TestPartitionIsTheNextPlace(t *testing.T) {
	for _, nodes := range []int{1, 2, 12, 100} {
		p := newTestPartitioner(nodes)
		for id := range SeriesID(5000) {
			hash := murmur(uint64(id))
			want := p.ring[0].node
			for _, place := range p.ring {
				if place.hash >= hash {
					want = place.node
					break
				}
			}
			if got := p.Partition(id); got != want {
				t.Fatalf("%d nodes: series %d is on node %d, want %d", nodes, id, got, want)
			}
		}
	}
}

// When a node is removed, only its own series move.
func TestFewSeriesMove(t *testing.T) {
	all := newTestPartitioner(12)
	less := newTestPartitioner(11)
	for id := range SeriesID(5000) {
		before, after := all.Partition(id), less.Partition(id)
		if before != after && before != 11 {
			t.Fatalf("series %d moved from node %d to %d", id, before, after)
		}
	}
}

func TestSharesAreEven(t *testing.T) {
	const series, nodes = 100_000, 12
	p := newTestPartitioner(nodes)
	counts := make([]int, nodes)
	for id := range SeriesID(series) {
		counts[p.Partition(id)]++
	}
	for node, n := range counts {
		if n < series/nodes/2 || n > series/nodes*2 {
			t.Errorf("node %d has %d of %d series", node, n, series)
		}
	}
}

func TestDebugLines(t *testing.T) {
	var lines strings.Builder
	NewPartitioner(nodeNames(1), NewLogger(&lines, LevelDebug)).Partition(7)
	if got := strings.Count(lines.String(), "level=debug msg="); got != 2 || !strings.Contains(lines.String(), " series=7 ") {
		t.Errorf("%d lines:\n%s", got, &lines)
	}
	lines.Reset()
	NewPartitioner(nodeNames(1), NewLogger(&lines, LevelInfo)).Partition(7)
	if lines.Len() > 0 {
		t.Errorf("debug is off: %s", &lines)
	}
}

func TestIngest(t *testing.T) {
	for _, tc := range []struct {
		name, body string
		status     int
		want       string
	}{
		{"two points", "1 0.5\n18446744073709551615 -1e9\n", 200, `{"accepted":2}`},
		{"no last newline", "1 0.5", 200, `{"accepted":1}`},
		{"nothing", "", 200, `{"accepted":0}`},
		{"no value", "1 1\n2\n", 400, "line 2: want SERIES VALUE"},
		{"no number", "x 1\n", 400, `line 1: series: strconv.ParseUint: parsing "x": invalid syntax`},
		{"no value either", "1 x\n", 400, `line 1: value: strconv.ParseFloat: parsing "x": invalid syntax`},
		{"endless line", strings.Repeat("1", 100_000), 400, "bufio.Scanner: token too long"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			newHandler(newTestPartitioner(3)).ServeHTTP(w, httptest.NewRequest("POST", "/v1/ingest", strings.NewReader(tc.body)))
			if got := strings.TrimSpace(w.Body.String()); w.Code != tc.status || got != tc.want {
				t.Errorf("%d %s, want %d %s", w.Code, got, tc.status, tc.want)
			}
		})
	}
}

// Every point of the load's batch is counted at one node.
func TestBatchIsCounted(t *testing.T) {
	batch, err := os.ReadFile("batch.txt")
	if err != nil {
		t.Fatal(err)
	}
	handler := newHandler(newTestPartitioner(3))
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/ingest", bytes.NewReader(batch)))
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest("GET", "/v1/nodes", nil))
	var points map[string]int
	if err := json.Unmarshal(w.Body.Bytes(), &points); err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, n := range points {
		sum += n
	}
	if want := bytes.Count(batch, []byte("\n")); sum != want || want == 0 || len(points) != 3 {
		t.Errorf("%d points at %v, want %d", sum, points, want)
	}
}

// The service stops on request, without an error.
func TestServeEnds(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, listener, newTestPartitioner(3)) }()

	client := &http.Client{Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	resp, err := client.Post(fmt.Sprintf("http://%s/v1/ingest", listener.Addr()), "text/plain", strings.NewReader("1 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("status %d", resp.StatusCode)
	}

	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("still serving 10 s after the stop")
	}
}

func BenchmarkPartition(b *testing.B) {
	p := newTestPartitioner(12)
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		p.Partition(SeriesID(i))
	}
}

func BenchmarkIngest(b *testing.B) {
	batch, err := os.ReadFile("batch.txt")
	if err != nil {
		b.Fatal(err)
	}
	handler := newHandler(newTestPartitioner(12))
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("POST", "/v1/ingest", bytes.NewReader(batch)))
		if w.Code != http.StatusOK {
			b.Fatal(w.Code)
		}
	}
}
