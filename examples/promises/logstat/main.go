// Command logstat reads the log of a busy day and writes how long each request took, by its
// number: a program that runs and exits.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
)

// entry is a line of the log: a request that starts or ends.
type entry struct {
	request uint64
	micros  int64 // since midnight
	end     bool
}

// generate makes a log of n requests: the lines "MICROS start REQUEST" and "MICROS end REQUEST".
func generate(n int) []byte {
	var b []byte
	line := func(micros int, what string, request uint64) {
		b = strconv.AppendInt(b, int64(micros), 10)
		b = append(b, what...)
		b = strconv.AppendUint(b, request, 10)
		b = append(b, '\n')
	}
	for i := range n {
		line(i*40, " start ", uint64(i)*2654435761%1000003)
		if i >= 12 {
			line(i*40+7*(i%13), " end ", uint64(i-12)*2654435761%1000003)
		}
	}
	return b
}

// parse reads the lines of a log.
func parse(text []byte) ([]entry, error) {
	entries := make([]entry, 0, bytes.Count(text, []byte("\n")))
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line)
		if len(fields) != 3 {
			return nil, fmt.Errorf("line %d: %q has no three fields", len(entries)+1, line)
		}
		micros, err := strconv.ParseInt(string(fields[0]), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", len(entries)+1, err)
		}
		request, err := strconv.ParseUint(string(fields[2]), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", len(entries)+1, err)
		}
		entries = append(entries, entry{request, micros, fields[1][0] == 'e'})
	}
	return entries, nil
}

// took is how long a request took; of one that has not ended, nothing.
type took struct {
	request uint64
	micros  int64
}

// durations pairs the starts of requests with their ends.
func durations(entries []entry) []took {
	var starts []entry
	for _, e := range entries {
		if !e.end {
			starts = append(starts, e)
		}
	}
	began := index(starts)
	list := make([]took, 0, len(starts))
	for _, e := range entries {
		if !e.end {
			continue
		}
		if start, ok := began[e.request]; ok {
			list = append(list, took{e.request, e.micros - start})
		}
	}
	return list
}

// run writes a line for every fourth request, and how many there were.
func run(w io.Writer, text []byte) error {
	entries, err := parse(text)
	if err != nil {
		return err
	}
	list := durations(entries)
	var sample []took
	for i := 0; i < len(list); i += 4 {
		sample = append(sample, list[i])
	}
	return report(w, sample, len(list))
}

func main() {
	log.SetFlags(0)
	requests := flag.Int("n", 300000, "number of requests in the generated log")
	flag.Parse()
	f, err := os.CreateTemp("", "logstat-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := run(f, generate(*requests)); err != nil {
		log.Fatal(err)
	}
}
