package load

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	tryAtMost = 5   // targets: enough to know, soon over
	tryBody   = 200 // bytes of an answer that are shown
)

// Try sends every target once (at most a handful), one after the other, and
// says what is wrong when none is answered below 400: the status and the first
// bytes of the answer, or why there was none and what to do about it.
func Try(ctx context.Context, o Options) error {
	if err := o.complete(); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	reqs, origins, err := buildRequests(o.Targets)
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	d := newDialer(&o, clock{time.Now()})
	var wrong []error
	for i := range reqs[:min(len(reqs), tryAtMost)] {
		err := try(ctx, &d, &reqs[i], origins[reqs[i].origin])
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("try %s: %w", reqs[i].target, context.Cause(ctx))
		}
		wrong = append(wrong, fmt.Errorf("%s: %w", reqs[i].target, err))
	}
	if len(wrong) == 1 {
		return wrong[0]
	}
	lines := make([]string, len(wrong))
	for i, err := range wrong {
		lines[i] = err.Error()
	}
	return fmt.Errorf("no target is answered below 400:\n\t%s", strings.Join(lines, "\n\t"))
}

// try sends one request on a connection of its own.
func try(ctx context.Context, d *dialer, req *request, o origin) error {
	c, err := d.dial(ctx, o)
	if err != nil {
		return advised(err)
	}
	defer c.close()
	defer context.AfterFunc(ctx, c.close)()
	c.rd.sample = make([]byte, 0, tryBody)
	a, err := c.roundTrip(req, d.clock.now())
	if err != nil {
		return advised(err)
	}
	if a.status < 400 {
		return nil
	}
	err = fmt.Errorf("answered %d", a.status)
	if body := printable(c.rd.sample); body != "" {
		err = fmt.Errorf("%w: %s", err, body)
	}
	switch a.status {
	case 401, 403:
		err = fmt.Errorf("%w (a header may be missing: -header 'Authorization: …')", err)
	case 404:
		err = fmt.Errorf("%w (check the path)", err)
	case 405:
		err = fmt.Errorf("%w (check the method: write 'METHOD URL')", err)
	}
	return err
}

// advised adds to a transport error what to do about it.
func advised(err error) error {
	if s := advice(kindName(err)); s != "" {
		return fmt.Errorf("%w (%s)", err, s)
	}
	return err
}

// printable makes one line of the beginning of a body.
func printable(b []byte) string {
	for len(b) > 0 && !utf8.Valid(b) && len(b) > tryBody-utf8.UTFMax {
		b = b[:len(b)-1] // a character cut through
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
