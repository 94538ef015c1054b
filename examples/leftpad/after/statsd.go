package main

import (
	"bytes"
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

// nameReplacer keeps the protocol's own characters out of names.
var nameReplacer = strings.NewReplacer(":", "_", "|", "_", "@", "_")

// lineSize holds most lines, so that a buffer seldom grows.
const lineSize = 128

// Send writes one metric: "namespace.name:value|kind|@rate". Metrics are
// best effort: an error of the writer is dropped.
func (s *StatsD) Send(name, kind string, value float64) {
	var line bytes.Buffer
	line.Grow(lineSize)
	line.WriteString(s.namespace)
	line.WriteByte('.')
	line.WriteString(nameReplacer.Replace(name))
	line.WriteByte(':')
	line.Write(strconv.AppendFloat(line.AvailableBuffer(), value, 'g', -1, 64))
	line.WriteByte('|')
	line.WriteString(kind)
	if s.rate < 1 {
		line.WriteString("|@")
		line.Write(strconv.AppendFloat(line.AvailableBuffer(), s.rate, 'f', -1, 64))
	}
	s.out.Write(line.Bytes())
}
