package main

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// countingWriter counts the writes that reach the underlying file.
type countingWriter struct {
	strings.Builder
	calls int
}

func (w *countingWriter) Write(p []byte) (int, error) {
	w.calls++
	return w.Builder.Write(p)
}

func TestLogBufferKeepsEveryLine(t *testing.T) {
	const writers, lines = 4, 2000
	var file countingWriter
	buffer := newLogBuffer(&file)

	var group sync.WaitGroup
	for i := 0; i < writers; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for n := 0; n < lines; n++ {
				fmt.Fprintf(buffer, "writer %d line %d\n", i, n)
			}
		}()
	}
	group.Wait()
	if err := buffer.Close(); err != nil {
		t.Fatal(err)
	}

	if got := strings.Count(file.String(), "\n"); got != writers*lines {
		t.Errorf("%d lines arrived, want %d", got, writers*lines)
	}
	for i := 0; i < writers; i++ {
		if last := fmt.Sprintf("writer %d line %d\n", i, lines-1); !strings.Contains(file.String(), last) {
			t.Errorf("lost %q", last)
		}
	}
	if most := writers * lines / 100; file.calls > most {
		t.Errorf("%d writes for %d lines, want at most %d", file.calls, writers*lines, most)
	}
}
