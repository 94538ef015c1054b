package load

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	tryAtMost = 5   // targets
	tryBody   = 200 // bytes of a response that are shown

	prefaceTimeout = 2 * time.Second // for a response to the HTTP/2 preface
)

// Try sends the first few targets once, in order, until a response has a status in Options.Expect.
// If none has, the error has the status and first bytes of each response, or why there was none and
// what to do about it. Try takes at most Options.Timeout; after that the error wraps
// os.ErrDeadlineExceeded.
func Try(ctx context.Context, o Options) error {
	if err := o.complete(); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	reqs, origins, err := buildRequests(o.known(tryAtMost))
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	began := time.Now()
	wrong := failedTries{expect: o.Expect}
	for i := range reqs[:min(len(reqs), tryAtMost)] {
		left := o
		left.Timeout -= time.Since(began)
		if i > 0 && left.Timeout <= 0 {
			break
		}
		d := newDialer(&left, clock{time.Now()})
		err := try(ctx, &d, &reqs[i], origins[reqs[i].origin], o.Expect)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("try %s: %w", reqs[i].target, context.Cause(ctx))
		}
		wrong.errs = append(wrong.errs, fmt.Errorf("%s: %w", reqs[i].target, err))
	}
	return wrong
}

// failedTries holds the errors of all targets.
type failedTries struct {
	expect Expect
	errs   []error
}

func (f failedTries) Unwrap() []error { return f.errs }

func (f failedTries) Error() string {
	if len(f.errs) == 1 {
		return f.errs[0].Error()
	}
	lines := make([]string, len(f.errs))
	for i, err := range f.errs {
		lines[i] = err.Error()
	}
	want := "below 400"
	if f.expect.set != nil {
		want = "by " + f.expect.String()
	}
	return fmt.Sprintf("no target is answered %s:\n\t%s", want, strings.Join(lines, "\n\t"))
}

// try sends one request on a connection of its own.
func try(ctx context.Context, d *dialer, req *request, o origin, expect Expect) error {
	c, err := d.dial(ctx, o)
	if err != nil {
		return advised(err)
	}
	defer c.close()
	defer context.AfterFunc(ctx, c.close)()
	c.rd.sample = make([]byte, 0, tryBody)
	a, err := c.roundTrip(req, d.clock.now())
	if err != nil {
		return noAnswer(ctx, d, o, err)
	}
	if expect.Has(a.status) {
		return nil
	}
	err = fmt.Errorf("answered %d", a.status)
	if len(a.location) > 0 {
		err = fmt.Errorf("%w to %s", err, printable(a.location))
	}
	if body := printable(c.rd.sample); body != "" {
		err = fmt.Errorf("%w: %s", err, body)
	}
	switch {
	case expect.set != nil:
		err = fmt.Errorf("%w (-expect has %s)", err, expect)
	case a.status == 401, a.status == 403:
		err = fmt.Errorf("%w (a header may be missing: -header 'Authorization: …')", err)
	case a.status == 404:
		err = fmt.Errorf("%w (check the path; -expect 404 if it is meant)", err)
	case a.status == 405:
		err = fmt.Errorf("%w (check the method: -method, or 'METHOD URL')", err)
	default:
		err = fmt.Errorf("%w (-expect %d if it is meant)", err, a.status)
	}
	return err
}

// noAnswer returns the reason why a request got no response.
func noAnswer(ctx context.Context, d *dialer, o origin, err error) error {
	switch kindOf(err) {
	case ErrTimeout:
		err = hung{after: d.timeout, err: err}
	case ErrEOF, ErrReset:
		if d.speaksHTTP2(ctx, o) {
			err = http2Only
		}
	}
	return advised(err)
}

// hung is the error of a request that got no response in time.
type hung struct {
	after time.Duration
	err   error
}

func (h hung) Error() string { return fmt.Sprintf("no answer after %s", round(h.after)) }
func (h hung) Unwrap() error { return h.err }

// speaksHTTP2 reports whether an origin that does not respond to HTTP/1.1 responds to HTTP/2
// without TLS (h2c with prior knowledge, RFC 9113, section 3.3).
func (d *dialer) speaksHTTP2(ctx context.Context, o origin) bool {
	if o.https {
		return false // the handshake agreed on HTTP/1.1
	}
	c, err := d.dial(ctx, o)
	if err != nil {
		return false
	}
	defer c.close()
	defer context.AfterFunc(ctx, c.close)()
	const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x00\x04\x00\x00\x00\x00\x00" // and empty SETTINGS
	_ = c.nc.SetDeadline(time.Now().Add(min(d.timeout, prefaceTimeout)))
	if _, err := c.nc.Write([]byte(preface)); err != nil {
		return false
	}
	frame := make([]byte, 9)
	_, err = io.ReadFull(c.nc, frame)
	return err == nil && isHTTP2(frame)
}

// advised adds advice to a transport error.
func advised(err error) error {
	s := advice(kindOf(err))
	var alert tls.AlertError
	switch {
	case errors.Is(err, http2Only):
		s = "gRPC and h2c are that; leave -load out, and drive the service with a tool that speaks HTTP/2 while hone watches"
	case errors.As(err, &alert) && alert == noApplicationProtocol:
		s = "the server offers no HTTP/1.1, perhaps HTTP/2 alone; leave -load out, and drive the service with a tool that speaks it while hone watches"
	}
	if s != "" {
		return fmt.Errorf("%w (%s)", err, s)
	}
	return err
}

// noApplicationProtocol is the alert of a server that supports none of the offered protocols (RFC
// 7301).
const noApplicationProtocol tls.AlertError = 120

// printable returns the start of a body as one printable line.
func printable(b []byte) string {
	for len(b) > 0 && !utf8.Valid(b) && len(b) > tryBody-utf8.UTFMax {
		b = b[:len(b)-1] // an incomplete character
	}
	if !utf8.Valid(b) {
		return fmt.Sprintf("%d bytes that are not text", len(b))
	}
	s := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, string(b))
	return strings.Join(strings.Fields(s), " ")
}
