//go:build fix_writes

package main

import (
	"bufio"
	"fmt"
	"io"
)

// report writes a line for each request of a sample, and how many there were in all.
func report(w io.Writer, sample []took, all int) error {
	buffered := bufio.NewWriter(w)
	for _, t := range sample {
		if _, err := fmt.Fprintf(buffered, "%8d %8d µs\n", t.request, t.micros); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(buffered, "%d requests\n", all); err != nil {
		return err
	}
	return buffered.Flush()
}
