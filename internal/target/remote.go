package target

import (
	"context"
	"io"
	"time"
)

// Remote is a service taken through its pprof endpoints.
type Remote struct{}

var _ Program = (*Remote)(nil)

// AttachOptions says how to reach the endpoints.
type AttachOptions struct {
	Prefix string // where net/http/pprof is mounted; "" = /debug/pprof/
	Header [][2]string
}

// Attach checks that url answers with pprof profiles and says what it offers.
func Attach(ctx context.Context, url string, o AttachOptions) (*Remote, error) { panic("contract") }
func (*Remote) Info(ctx context.Context) (Info, error)                         { panic("contract") }
func (*Remote) Profile(ctx context.Context, name string, debug int, gc bool) ([]byte, error) {
	panic("contract")
}
func (*Remote) CPUProfile(ctx context.Context, d time.Duration) ([]byte, error) { panic("contract") }
func (*Remote) Trace(ctx context.Context, w io.Writer, d time.Duration, maxBytes int64) (truncated bool, err error) {
	panic("contract")
}
func (*Remote) SetRates(ctx context.Context, block, mutex int) (restore func(context.Context) error, notes []string, err error) {
	panic("contract")
}
func (*Remote) SetGC(ctx context.Context, percent *int, limit *int64) (oldPercent int, oldLimit int64, err error) {
	panic("contract")
}
func (*Remote) Metrics(ctx context.Context) (Metrics, error) { panic("contract") }
func (*Remote) Usage(ctx context.Context) (Usage, error)     { panic("contract") }
func (*Remote) Done() <-chan struct{}                        { panic("contract") }
func (*Remote) Exit() Exit                                   { panic("contract") }
func (*Remote) Stop(ctx context.Context) error               { panic("contract") }
