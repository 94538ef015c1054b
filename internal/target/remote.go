package target

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Remote is a service that is profiled through its pprof endpoints.
type Remote struct {
	base    *url.URL // of the endpoints, with a slash at the end
	header  http.Header
	client  *http.Client
	offers  []string // what the index page lists
	pid     int      // of the service, when it runs on this machine; 0
	noPID   *Missing // why there is none
	stop    context.CancelFunc
	done    chan struct{}
	ending  sync.Once
	started uint64 // the process's start time, to distinguish it from another with its id
}

var _ Program = (*Remote)(nil)

// AttachOptions describes how to reach the endpoints.
type AttachOptions struct {
	Prefix string // where net/http/pprof is mounted; "" = the URL's path, or /debug/pprof/ without one
	Header [][2]string
	TLS    *tls.Config // for https; nil = the system's
}

const (
	defaultPrefix = "/debug/pprof/"
	attachTimeout = 15 * time.Second // for each of Attach's requests
	mountIt       = "mount the handlers of net/http/pprof, or name where they are with -pprof PREFIX"
)

// endpoints lists those of net/http/pprof; one of them at the end of a URL is not a prefix.
var endpoints = []string{
	"allocs", "block", "cmdline", "goroutine", "goroutineleak", "heap", "mutex",
	"profile", "symbol", "threadcreate", "trace",
}

// Attach checks that url answers with pprof profiles. The URL is the service's, or that of the
// endpoints when it has a path. A service that mounts only some of them (/heap, /profile) is
// accepted; a request for what it lacks fails with a *Missing.
func Attach(ctx context.Context, rawURL string, o AttachOptions) (*Remote, error) {
	base, err := endpointsURL(rawURL, o.Prefix)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		DisableCompression:    true, // profiles are already compressed
		TLSClientConfig:       o.TLS,
		TLSHandshakeTimeout:   attachTimeout,
		MaxIdleConnsPerHost:   2,
		ResponseHeaderTimeout: 0, // a CPU profile's header arrives when the profile is complete
	}
	r := &Remote{base: base, header: http.Header{}, client: &http.Client{Transport: transport}, done: make(chan struct{})}
	for _, kv := range o.Header {
		r.header.Add(kv[0], kv[1])
	}
	heap, err := r.check(ctx)
	if err != nil {
		transport.CloseIdleConnections()
		return nil, err
	}
	life, stop := context.WithCancel(context.Background())
	r.stop = stop
	r.pid, r.noPID = r.process(ctx, heap)
	if r.pid != 0 {
		r.started = startTime(r.pid)
		go r.watch(life)
	}
	return r, nil
}

// endpointsURL is where the endpoints are.
func endpointsURL(raw, prefix string) (*url.URL, error) {
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("attach: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("attach to %s: pprof endpoints are reached by http or https, not %s", raw, u.Scheme)
	}
	if u.Hostname() == "" {
		return nil, fmt.Errorf("attach to %s: the URL names no host", raw)
	}
	switch {
	case prefix != "":
		u.Path = "/" + strings.TrimLeft(prefix, "/")
	case u.Path == "" || u.Path == "/":
		u.Path = defaultPrefix
	case slices.Contains(endpoints, path.Base(u.Path)):
		u.Path = path.Dir(u.Path)
	}
	u.Path = strings.TrimRight(u.Path, "/") + "/"
	u.RawPath, u.RawQuery, u.Fragment = "", "", ""
	return u, nil
}

// check finds out whether these are pprof endpoints, by the heap profile, or the index, or, where a
// service has neither, a CPU profile of one second. It returns the heap profile if there is one.
func (r *Remote) check(ctx context.Context) ([]byte, error) {
	heap, heapErr := r.checked(ctx, "heap")
	if heapErr == nil {
		r.offers = append(r.offers, "heap")
	}
	var missing *Missing
	if heapErr != nil && !errors.As(heapErr, &missing) {
		return nil, fmt.Errorf("attach to %s: %w", r.base, heapErr)
	}
	r.readIndex(ctx)
	if len(r.offers) > 0 {
		return heap, nil
	}
	if _, err := r.checked(ctx, "profile"); err == nil || isBusy(err) {
		r.offers = append(r.offers, "profile")
		return nil, nil
	}
	return nil, fmt.Errorf("attach to %s: %w", r.base, heapErr)
}

func (r *Remote) checked(ctx context.Context, name string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, attachTimeout)
	defer cancel()
	if name == "profile" {
		return r.profile(ctx, "CPU profile", name, url.Values{"seconds": {"1"}})
	}
	return r.profile(ctx, name+" profile", name, nil)
}

// indexLink matches a link of net/http/pprof's index page.
var indexLink = regexp.MustCompile(`href=['"]?(?:[^'"\s>]*/)?([A-Za-z0-9_.\-]+)(?:\?debug=\d)?['"\s>]`)

// readIndex adds what the index page lists, if there is one.
func (r *Remote) readIndex(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, attachTimeout)
	defer cancel()
	a, err := r.get(ctx, "", nil)
	if err != nil {
		return
	}
	defer a.Close()
	body, err := a.read(1 << 20)
	if err != nil || a.status != http.StatusOK || !strings.Contains(string(body), "pprof") {
		return
	}
	var names []string
	for _, m := range indexLink.FindAllStringSubmatch(string(body), -1) {
		names = append(names, m[1])
	}
	if slices.Contains(names, "goroutine") || slices.Contains(names, "heap") {
		r.offers = append(r.offers, names...)
		slices.Sort(r.offers)
		r.offers = slices.Compact(r.offers)
	}
}

// Offers lists the endpoints that the service's index names, and those that worked when tried.
// Others may exist.
func (r *Remote) Offers() []string { return slices.Clone(r.offers) }

// URL is where the endpoints are.
func (r *Remote) URL() string { return r.base.String() }

// Done is closed when the service is known to have exited: its process was on this machine and is
// gone.
func (r *Remote) Done() <-chan struct{} { return r.done }

// Exit is empty: how the service exited is not known.
func (r *Remote) Exit() Exit { return Exit{Code: -1} }

// Stop detaches from the service, which keeps running.
func (r *Remote) Stop(context.Context) error {
	r.stop()
	r.client.CloseIdleConnections()
	return nil
}

// watchPause is the interval at which a service's process is checked.
const watchPause = 500 * time.Millisecond

// watch closes Done when the service's process is gone.
func (r *Remote) watch(ctx context.Context) {
	t := time.NewTicker(watchPause)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if startTime(r.pid) != r.started {
				r.ending.Do(func() { close(r.done) })
				return
			}
		}
	}
}
