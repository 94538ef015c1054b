package load

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// origin is the address of connections: requests to one origin share them.
type origin struct {
	https bool
	host  string // without port, for the certificate
	addr  string // host:port
}

// request is a Target as bytes on the wire, built once.
type request struct {
	wire   []byte
	head   bool // the response to HEAD has no body, whatever its header says
	origin int  // index into the generator's origins
	target *Target
	last   *lastBody // nil unless bodies are looked at
}

// buildRequests encodes targets and collects their origins.
func buildRequests(targets []Target) ([]request, []origin, error) {
	if len(targets) == 0 {
		return nil, nil, errors.New("no targets: name a URL to send requests to")
	}
	var (
		reqs    = make([]request, 0, len(targets))
		origins []origin
		index   = map[origin]int{}
	)
	for i := range targets {
		t := &targets[i]
		wire, o, err := t.wire()
		if err != nil {
			return nil, nil, fmt.Errorf("target %d (%s): %w", i+1, t, err)
		}
		at, ok := index[o]
		if !ok {
			at = len(origins)
			index[o] = at
			origins = append(origins, o)
		}
		reqs = append(reqs, request{wire: wire, head: t.Method == "HEAD", origin: at, target: t})
	}
	return reqs, origins, nil
}

// String returns what the user would type: METHOD URL.
func (t *Target) String() string {
	m := t.Method
	if m == "" {
		m = "GET"
	}
	return m + " " + t.URL
}

// wire returns the bytes of the request (RFC 9112, section 3) and its origin.
func (t *Target) wire() ([]byte, origin, error) {
	method := t.Method
	if method == "" {
		method = "GET"
	}
	if !isToken(method) {
		return nil, origin{}, fmt.Errorf("%q is not a method", method)
	}
	if method == "CONNECT" {
		return nil, origin{}, errors.New("CONNECT opens a tunnel and cannot be measured")
	}
	u, o, err := parseURL(t.URL)
	if err != nil {
		return nil, origin{}, err
	}
	host, agent, auth := u.Host, "hone", ""
	if u.User != nil {
		pass, _ := u.User.Password()
		auth = "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+pass))
	}
	var fields strings.Builder
	for _, h := range t.Header {
		name, value := h[0], strings.TrimSpace(h[1])
		if err := checkField(name, value); err != nil {
			return nil, origin{}, err
		}
		switch strings.ToLower(name) {
		case "host":
			host = value
			continue
		case "content-length":
			continue // derived from the body
		case "transfer-encoding":
			return nil, origin{}, errors.New("Transfer-Encoding cannot be set: bodies are sent with their length")
		case "user-agent":
			agent = value
			continue
		case "authorization":
			auth = ""
		}
		fmt.Fprintf(&fields, "%s: %s\r\n", name, value)
	}

	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, u.RequestURI(), host)
	if agent != "" {
		fmt.Fprintf(&b, "User-Agent: %s\r\n", agent)
	}
	if auth != "" {
		fmt.Fprintf(&b, "Authorization: %s\r\n", auth)
	}
	b.WriteString(fields.String())
	if len(t.Body) > 0 || method == "POST" || method == "PUT" || method == "PATCH" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(t.Body))
	}
	b.WriteString("\r\n")
	b.Write(t.Body)
	return []byte(b.String()), o, nil
}

// parseURL checks that s is an absolute http or https URL that can be sent.
func parseURL(s string) (*url.URL, origin, error) {
	u, err := url.Parse(s)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		return nil, origin{}, fmt.Errorf("URL %q: %w", s, err)
	}
	o := origin{host: u.Hostname()}
	port := "80"
	switch strings.ToLower(u.Scheme) {
	case "http":
	case "https":
		o.https, port = true, "443"
	case "":
		return nil, origin{}, fmt.Errorf("URL %q has no scheme: write http://%s", s, s)
	default:
		return nil, origin{}, fmt.Errorf("URL %q: cannot send %s, only http and https", s, u.Scheme)
	}
	if o.host == "" {
		return nil, origin{}, fmt.Errorf("URL %q names no host", s)
	}
	for _, r := range u.Host {
		if r <= ' ' || r >= 0x7f {
			return nil, origin{}, fmt.Errorf("URL %q: write the host in ASCII (punycode)", s)
		}
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 {
			return nil, origin{}, fmt.Errorf("URL %q: %q is not a port (1 to 65535)", s, p)
		}
		port = p
	}
	o.addr = net.JoinHostPort(o.host, port)
	return u, o, nil
}

// checkField rejects header fields that would change the request's framing.
func checkField(name, value string) error {
	if !isToken(name) {
		return fmt.Errorf("%q is not a header name", name)
	}
	if i := strings.IndexFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }); i >= 0 {
		return fmt.Errorf("header %s: byte %d of its value is a control character", name, i+1)
	}
	return nil
}

// isToken reports whether s is a token of RFC 9110, section 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}
