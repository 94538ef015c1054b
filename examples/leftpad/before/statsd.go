package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// StatsD writes metrics as lines of the StatsD text protocol. It may be used
// by many goroutines when its writer may.
type StatsD struct {
	out       io.Writer
	namespace string
	rate      float64 // share of the events that are reported; 1 = all
}

func newStatsD(out io.Writer, namespace string, rate float64) *StatsD {
	return &StatsD{out: out, namespace: namespace, rate: rate}
}

// Count adds delta to a counter.
func (s *StatsD) Count(name string, delta int) {
	s.Send(name, "c", float64(delta))
}

// Histogram adds a value to a distribution.
func (s *StatsD) Histogram(name string, value float64) {
	s.Send(name, "h", value)
}

// Timing reports how long something took.
func (s *StatsD) Timing(name string, took time.Duration) {
	s.Send(name, "ms", took.Seconds()*1000)
}

// Send writes one metric: "namespace.name:value|kind|@rate". Metrics are
// best effort: an error of the writer is dropped.
func (s *StatsD) Send(name, kind string, value float64) {
	line := fmt.Sprintf("%s.", s.namespace)
	clean := strings.NewReplacer(":", "_", "|", "_", "@", "_").Replace(name)
	line += fmt.Sprintf("%s:%v|%s", clean, value, kind)
	if s.rate < 1 {
		rate := strconv.FormatFloat(s.rate, 'f', -1, 64)
		line += fmt.Sprintf("|@%s", rate)
	}
	io.WriteString(s.out, line)
}
