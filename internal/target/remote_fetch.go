package target

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// answer is an endpoint's answer.
type answer struct {
	io.ReadCloser
	url    string
	status int
	words  string // "404 Not Found"
	kind   string // Content-Type
}

// get asks one endpoint. The body is the caller's to close.
func (r *Remote) get(ctx context.Context, name string, query url.Values) (*answer, error) {
	u := r.base.JoinPath(url.PathEscape(name)) // a copy
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header = r.header.Clone()
	if host := r.header.Get("Host"); host != "" {
		req.Host = host
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, err // names method, URL and reason
	}
	return &answer{
		ReadCloser: resp.Body, url: u.String(), status: resp.StatusCode,
		words: resp.Status, kind: resp.Header.Get("Content-Type"),
	}, nil
}

// read reads the body, which must not be longer than limit.
func (a *answer) read(limit int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(a, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: the answer ends after %d bytes: %w", a.url, len(body), err)
	}
	if int64(len(body)) > limit {
		return nil, fmt.Errorf("%s: the answer is larger than %d bytes", a.url, limit)
	}
	return body, nil
}

// busy is the reason why a service that is being profiled already cannot be profiled.
const busy = "somebody else is taking one in this service right now"

func isBusy(err error) bool {
	var m *Missing
	return errors.As(err, &m) && strings.HasPrefix(m.Why, busy)
}

// refusal explains a status other than 200. what names what was asked for.
func (a *answer) refusal(what string) error {
	body, _ := io.ReadAll(io.LimitReader(a, 4<<10))
	said := firstLine(a.kind, body)
	m := &Missing{What: what, Why: fmt.Sprintf("%s answers %s", a.url, a.words)}
	if said != "" && !strings.Contains(a.words, said) {
		m.Why += ": " + said
	}
	switch {
	case strings.Contains(said, "already in use"), strings.Contains(said, "already enabled"):
		m.Why = busy + " (" + m.Why + ")"
		m.How = "wait until it ends, or stop what takes it: another hone, a continuous profiler, the service itself"
	case strings.Contains(said, "WriteTimeout"):
		m.How = "measure for a shorter time, or raise the WriteTimeout of the service's http.Server"
	case strings.Contains(said, "HTTPS server"):
		m.How = "write the URL with https://"
	case a.status == http.StatusUnauthorized, a.status == http.StatusForbidden:
		m.How = "give what it asks for with -header"
	case a.status == http.StatusNotFound, a.status == http.StatusMethodNotAllowed:
		m.How = mountIt
	}
	return m
}

// firstLine is the first line of a plain answer, for messages.
func firstLine(kind string, body []byte) string {
	if kind != "" && !strings.HasPrefix(kind, "text/plain") {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
	line = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0xFFFD {
			return -1
		}
		return c
	}, line)
	if len(line) > 160 {
		line = line[:160] + "…"
	}
	return line
}

// errNotProfile is wrapped when an endpoint answers with something other than a profile.
var errNotProfile = errors.New("not a pprof profile")

// profile fetches a profile in pprof's format and makes sure that it is one.
func (r *Remote) profile(ctx context.Context, what, name string, query url.Values) ([]byte, error) {
	a, err := r.get(ctx, name, query)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	if a.status != http.StatusOK {
		return nil, a.refusal(what)
	}
	body, err := a.read(maxAnswer)
	if err != nil {
		return nil, err
	}
	if err := looksLikeProfile(body, a.kind); err != nil {
		return nil, fmt.Errorf("%s answers %s, %w", a.url, a.words, err)
	}
	return body, nil
}

// looksLikeProfile accepts a complete gzip stream, and uncompressed bytes that are declared as a
// profile. Their content is for the reader of profiles to judge.
func looksLikeProfile(body []byte, kind string) error {
	if len(body) == 0 {
		return fmt.Errorf("%w: it is empty", errNotProfile)
	}
	if !bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
		if kind == "application/octet-stream" && body[0] != '<' && body[0] != '{' {
			return nil
		}
		if kind == "" {
			kind = "no content type"
		}
		return fmt.Errorf("%s, %w; %s", kind, errNotProfile, mountIt)
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err == nil {
		_, err = io.Copy(io.Discard, io.LimitReader(z, 4*maxAnswer))
	}
	if err != nil {
		return fmt.Errorf("%w: its gzip stream is broken: %w", errNotProfile, err)
	}
	return nil
}
