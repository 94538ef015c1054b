package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"time"
)

// pprofPage returns a function that opens a profile in pprof's web UI, fetches the flame graph as a
// browser does first, and stops the server.
func pprofPage(pprof, file string) func(context.Context) (usage, error) {
	return func(ctx context.Context) (usage, error) {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, pprof, "-http=127.0.0.1:", "-no_browser", file)
		stderr, err := cmd.StderrPipe()
		if err != nil {
			return usage{}, err
		}
		if err := cmd.Start(); err != nil {
			return usage{}, err
		}
		size, err := fetchFlameGraph(ctx, stderr)
		cmd.Process.Kill() // it would serve forever
		cmd.Wait()         // its error is that of the kill
		if err != nil {
			return usage{}, err
		}
		u := used(cmd.ProcessState)
		u.page = float64(size) / 1e3
		return u, nil
	}
}

var servesAt = regexp.MustCompile(`Serving web UI on (http://\S+)`)

// fetchFlameGraph waits until the server prints its address, and returns the size of the page.
func fetchFlameGraph(ctx context.Context, log io.Reader) (int64, error) {
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		at := servesAt.FindStringSubmatch(lines.Text())
		if at == nil {
			continue
		}
		go io.Copy(io.Discard, log) // ends with the server
		return fetch(ctx, at[1]+"/ui/flamegraph")
	}
	return 0, fmt.Errorf("the web UI did not start: %v", lines.Err())
}

// fetch returns the size of a page. The server may not be listening yet.
func fetch(ctx context.Context, url string) (int64, error) {
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return 0, err
		}
		resp, err := client.Do(req)
		if err != nil {
			select {
			case <-ctx.Done():
				return 0, fmt.Errorf("fetch %s: %w", url, err)
			case <-time.After(50 * time.Millisecond):
				continue
			}
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return 0, fmt.Errorf("fetch %s: %s", url, resp.Status)
		}
		return io.Copy(io.Discard, resp.Body)
	}
}

// honePage returns a function that writes hone's page.
func honePage(hone, file, page string) func(context.Context) (usage, error) {
	return func(ctx context.Context) (usage, error) {
		u, err := measure(ctx, []string{hone, "flame", "-q", "-o", page, file})
		if err != nil {
			return u, err
		}
		info, err := os.Stat(page)
		if err != nil {
			return u, err
		}
		u.page = float64(info.Size()) / 1e3
		return u, nil
	}
}
