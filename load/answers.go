package load

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// Answer is the response of a service to one request.
type Answer struct {
	Target string    `json:"target"` // method and URL
	Status int       `json:"status,omitempty"`
	Body   string    `json:"body,omitempty"`  // SHA-256 of the first MiB of the body, in hex
	Error  ErrorKind `json:"error,omitempty"` // why there was no response; "" otherwise
}

// answerBody is the number of bytes of a body that are hashed.
const answerBody = 1 << 20

// Answers sends each of the first n targets once, one after the other, and returns the responses.
// If there was no response, the Error of its Answer is set. Each request takes at most
// Options.Timeout.
func Answers(ctx context.Context, o Options, n int) ([]Answer, error) {
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	reqs, origins, err := buildRequests(o.known(n))
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	var all []Answer
	d := newDialer(&o, clock{time.Now()})
	for i := range reqs[:min(n, len(reqs))] {
		if err := ctx.Err(); err != nil {
			return all, err
		}
		a := Answer{Target: reqs[i].target.String()}
		if a.Status, a.Body, err = ask(ctx, &d, &reqs[i], origins[reqs[i].origin]); err != nil {
			a.Error = kindOf(err)
		}
		all = append(all, a)
	}
	return all, nil
}

// ask sends one request on a connection of its own.
func ask(ctx context.Context, d *dialer, req *request, o origin) (status int, body string, err error) {
	c, err := d.dial(ctx, o)
	if err != nil {
		return 0, "", err
	}
	defer c.close()
	defer context.AfterFunc(ctx, c.close)()
	c.rd.sample = make([]byte, 0, answerBody)
	a, err := c.roundTrip(req, d.clock.now())
	if err != nil {
		return 0, "", errors.Join(ctx.Err(), err)
	}
	sum := sha256.Sum256(c.rd.sample)
	return a.status, hex.EncodeToString(sum[:]), nil
}
