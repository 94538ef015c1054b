package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/hone-go/hone/load"
	"github.com/hone-go/hone/stats"
)

// loadArea compares the load generator with wrk in a closed loop, by CPU per request, and shows the
// CPU per scheduled request, for which wrk has no counterpart. The server is this process; its CPU
// is not measured.
func loadArea(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("peers load", flag.ContinueOnError)
	runs := fs.Int("runs", 5, "runs of each tool")
	seconds := fs.Int("seconds", 1, "length of a run")
	connections := fs.Int("connections", 64, "connections")
	url := fs.String("url", "", "a server on this machine, instead of this process")
	if err := fs.Parse(args); err != nil {
		return err
	}
	wrk, err := exec.LookPath("wrk")
	if err != nil {
		return fmt.Errorf("install wrk first: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if *url == "" {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte("ok"))
		})}
		go srv.Serve(ln)
		defer srv.Close()
		*url = "http://" + ln.Addr().String() + "/"
	}
	ours := func(rate string) []string {
		return []string{self, workerArg, "load", *url, strconv.Itoa(*connections), rate, strconv.Itoa(*seconds)}
	}
	rivals := []struct {
		name  string
		args  []string
		count func(stdout []byte) (int64, error)
	}{
		{"wrk, closed loop", []string{wrk, "-t2", "-c" + strconv.Itoa(*connections), "-d" + strconv.Itoa(*seconds) + "s", *url}, wrkCount},
		{"hone, closed loop", ours("0"), honeCount},
		{"hone at 1,000/s", ours("1000"), honeCount},
		{"hone at 5,000/s", ours("5000"), honeCount},
	}
	micros := make([][]float64, len(rivals))
	requests := make([][]float64, len(rivals))
	for range *runs {
		for i, r := range rivals {
			var stdout, stderr bytes.Buffer
			cmd := exec.CommandContext(ctx, r.args[0], r.args[1:]...)
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s: %w\n%s", r.name, err, stderr.Bytes())
			}
			n, err := r.count(stdout.Bytes())
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			s := cmd.ProcessState
			micros[i] = append(micros[i], (s.UserTime()+s.SystemTime()).Seconds()*1e6/float64(n))
			requests[i] = append(requests[i], float64(n))
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "tool\trequests a run\tCPU µs a request\tratio to wrk\ttarget")
	for i, r := range rivals {
		ratio, target := "", ""
		if i < 2 {
			ratio = fmt.Sprintf("%.2f", stats.Median(micros[i])/stats.Median(micros[0]))
		}
		if i == 1 {
			target = "≤ 1.0"
		}
		fmt.Fprintf(w, "%s\t%.0f\t%.2f\t%s\t%s\n", r.name, stats.Median(requests[i]), stats.Median(micros[i]), ratio, target)
	}
	return w.Flush()
}

var wrkRequests = regexp.MustCompile(`(\d+) requests in `)

func wrkCount(stdout []byte) (int64, error) {
	m := wrkRequests.FindSubmatch(stdout)
	if m == nil {
		return 0, fmt.Errorf("no number of requests in %q", stdout)
	}
	return strconv.ParseInt(string(m[1]), 10, 64)
}

func honeCount(stdout []byte) (int64, error) {
	r, err := load.ParseReport(stdout)
	if err != nil {
		return 0, err
	}
	if r.Requests == 0 || r.Failed > 0 {
		return 0, fmt.Errorf("%d answers, %d failed", r.Requests, r.Failed)
	}
	return r.Requests, nil
}

// loadJob is a worker's job: URL CONNECTIONS RATE SECONDS.
func loadJob(out io.Writer, args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("worker: load needs a URL and three numbers, not %q", args)
	}
	targets, err := load.ParseTargets(args[0], nil)
	if err != nil {
		return err
	}
	var n [3]int
	for i := range n {
		if n[i], err = strconv.Atoi(args[1+i]); err != nil {
			return fmt.Errorf("worker: load: %w", err)
		}
	}
	g, err := load.Start(context.Background(), load.Options{
		Targets: targets, Connections: n[0], Rate: float64(n[1]), MaxDuration: time.Duration(n[2]) * time.Second,
	})
	if err != nil {
		return err
	}
	<-g.Done()
	return json.NewEncoder(out).Encode(g.Stop())
}
