//go:build !fix_writes

package main

import (
	"fmt"
	"io"
)

// report writes a line for each request of a sample, and how many there were in all.
func report(w io.Writer, sample []took, all int) error {
	for _, t := range sample {
		if _, err := fmt.Fprintf(w, "%8d %8d µs\n", t.request, t.micros); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d requests\n", all)
	return err
}
