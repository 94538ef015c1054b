package source

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hone-go/hone/profile"
)

// fetchSlack is how much longer than the length of a profile an endpoint may take to answer.
const fetchSlack = 30 * time.Second

// hostPort matches URLs as users of pprof write them: localhost:6060/debug/pprof/heap, :6060.
var hostPort = regexp.MustCompile(`^([\w.-]*|\[[0-9a-fA-F:]+\]):\d+(/.*)?$`)

// urlOf returns the URL of a source, if the source is one.
func urlOf(arg string) (string, bool) {
	for _, scheme := range []string{"http://", "https://", insecure + "://"} {
		if strings.HasPrefix(arg, scheme) {
			return arg, true
		}
	}
	if !hostPort.MatchString(arg) {
		return "", false
	}
	if _, err := os.Stat(arg); err == nil {
		return "", false // it is a file
	}
	return "http://" + arg, true
}

// insecure is pprof's scheme for https without verification of the certificate.
const insecure = "https+insecure"

// fetched is the result of fetching a URL.
type fetched struct {
	p   *profile.Profile
	err error
}

// fetchAll fetches all URLs among args, at most maxFetches at a time. The result for args[i] is
// sent on channel i, which is nil for an argument that is not a URL.
func (o Opener) fetchAll(ctx context.Context, args []string) []chan fetched {
	const maxFetches = 128 // as in go tool pprof
	turns := make(chan bool, maxFetches)
	answers := make([]chan fetched, len(args))
	for i, arg := range args {
		u, ok := urlOf(arg)
		if !ok {
			continue
		}
		answers[i] = make(chan fetched, 1)
		go func() {
			turns <- true
			p, err := o.fetchProfile(ctx, u)
			<-turns
			answers[i] <- fetched{p, err}
		}()
	}
	return answers
}

// fetchProfile fetches a profile from an endpoint. A URL without a path means the CPU profile at
// the default path, as in go tool pprof.
func (o Opener) fetchProfile(ctx context.Context, raw string) (*profile.Profile, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: not a URL: %w", raw, err)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/debug/pprof/profile"
	}
	f := o.newFetcher(u)
	defer f.client.CloseIdleConnections()

	seconds := o.Seconds
	q := u.Query()
	if given, err := strconv.Atoi(q.Get("seconds")); err == nil && given > 0 {
		seconds = given
	}
	kind := path.Base(u.Path)
	if kind == "profile" && seconds <= 0 {
		seconds = 30
	}
	length := time.Duration(seconds) * time.Second
	switch {
	case seconds <= 0:
		return f.get(ctx, u, 0)
	case isSnapshot(kind):
		o.Say("fetch", fmt.Sprintf("taking two %s profiles %d s apart from %s", kind, seconds, u.Host))
		return f.delta(ctx, u, length)
	case kind == "profile":
		o.Say("fetch", fmt.Sprintf("taking a CPU profile of %d s from %s", seconds, u.Host))
	}
	q.Set("seconds", strconv.Itoa(seconds)) // other endpoints, such as fgprof's, support it too
	u.RawQuery = q.Encode()
	return f.get(ctx, u, length)
}

// mostFetched is the maximum number of bytes that Copy reads from an endpoint: more than any
// profile or bounded trace has.
const mostFetched = 1 << 30

// Copy copies the response of the endpoint at raw, a profile or a trace that takes length to
// record, to w unchanged.
func (o Opener) Copy(ctx context.Context, raw string, length time.Duration, w io.Writer) error {
	u, err := url.Parse(raw)
	if err != nil {
		return fmt.Errorf("%s: not a URL: %w", raw, err)
	}
	f := o.newFetcher(u)
	defer f.client.CloseIdleConnections()
	body, err := f.open(ctx, u, length)
	if err != nil {
		return err
	}
	defer body.Close()
	n, err := io.Copy(w, io.LimitReader(body, mostFetched))
	switch {
	case err != nil:
		return fmt.Errorf("fetch %s: %w", u, err)
	case n == 0:
		return fmt.Errorf("fetch %s: the response is empty", u)
	case n == mostFetched:
		return fmt.Errorf("fetch %s: the response is larger than %d MiB", u, mostFetched>>20)
	}
	return nil
}

// isSnapshot reports whether an endpoint returns the state at one moment, so that -seconds means
// the difference of two profiles.
func isSnapshot(kind string) bool {
	switch kind {
	case "heap", "allocs", "block", "mutex", "goroutine", "goroutineleak", "threadcreate":
		return true
	}
	return false
}

type fetcher struct {
	client *http.Client
	header [][2]string
}

// newFetcher returns a fetcher for u, whose scheme it rewrites if it is pprof's own.
func (o Opener) newFetcher(u *url.URL) fetcher {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{}
	if o.TLS != nil {
		transport.TLSClientConfig = o.TLS.Clone()
	}
	if u.Scheme == insecure {
		u.Scheme = "https"
		transport.TLSClientConfig.InsecureSkipVerify = true // the user asked for it by name
	}
	return fetcher{client: &http.Client{Transport: transport}, header: o.Header}
}

// delta fetches two profiles and subtracts them here. ?seconds would do it in the service: at the
// service's cost, and memory in use would be subtracted too (go.dev/issue/67942). Here memory in
// use is that of the last profile.
func (f fetcher) delta(ctx context.Context, u *url.URL, length time.Duration) (*profile.Profile, error) {
	u = u.JoinPath() // a copy
	q := u.Query()
	q.Del("seconds")
	kind := path.Base(u.Path)
	if kind == "heap" || kind == "allocs" {
		// Allocations appear in the profile when a collection ends. Only /heap, which has the same
		// content, can be asked to run one first.
		q.Set("gc", "1")
		u.Path = path.Join(path.Dir(u.Path), "heap")
	}
	u.RawQuery = q.Encode()
	before, err := f.get(ctx, u, 0)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	select {
	case <-time.After(length):
	case <-ctx.Done():
		return nil, fmt.Errorf("wait between two profiles of %s: %w", u, context.Cause(ctx))
	}
	after, err := f.get(ctx, u, 0)
	if err != nil {
		return nil, err
	}
	d, err := profile.Subtract(after, before, profile.Subtraction{Counters: true})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u, err)
	}
	if d.DurationNanos == 0 { // the profiles have no times
		d.DurationNanos = time.Since(start).Nanoseconds()
	}
	if kind == "allocs" {
		d.DefaultSampleType = "alloc_space"
	}
	return d, nil
}

// get fetches the profile at u, which takes length to record.
func (f fetcher) get(ctx context.Context, u *url.URL, length time.Duration) (*profile.Profile, error) {
	body, err := f.open(ctx, u, length)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	p, err := decode(body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u, err)
	}
	return p, nil
}

// open requests u, whose response takes length to create, and returns its body.
func (f fetcher) open(ctx context.Context, u *url.URL, length time.Duration) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, length+fetchSlack)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		cancel()
		return nil, err
	}
	for _, h := range f.header {
		req.Header.Add(h[0], h[1])
		if strings.EqualFold(h[0], "Host") {
			req.Host = h[1]
		}
	}
	resp, err := f.client.Do(req)
	if err != nil {
		cancel()
		return nil, unreachable(u, err)
	}
	if resp.StatusCode != http.StatusOK {
		defer cancel()
		defer resp.Body.Close()
		return nil, refused(u, resp)
	}
	return &body{resp.Body, cancel}, nil
}

// body is a response that ends its request when it is closed.
type body struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *body) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

func unreachable(u *url.URL, err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	advice := "is the service up, and net/http/pprof mounted there?"
	var verify *tls.CertificateVerificationError
	if errors.As(err, &verify) {
		advice = "give the authority to trust with -ca FILE, or -insecure"
	}
	return fmt.Errorf("fetch %s: %w; %s", u, err, advice)
}

func refused(u *url.URL, resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 200)) // the reason, if the response has one
	said := fmt.Sprintf("the service answers %s: %s", resp.Status, strings.TrimSpace(string(body)))
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		said += "; send what it requires with -header 'Name: value', or a client certificate with -cert and -key"
	}
	return fmt.Errorf("fetch %s: %s", u, said)
}
