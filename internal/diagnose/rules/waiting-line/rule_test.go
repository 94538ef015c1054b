package waitingline

import "testing"

// TestWaiting: no share of the time is above 100 %.
func TestWaiting(t *testing.T) {
	for _, tt := range []struct {
		share, atATime float64
		want           string
	}{
		{0.56, 4.5, "Requests spend 56 % of their time waiting here for a value: on average 4.5 wait at a time, while the program and its load use 20 % of the processors."},
		{1, 8, "Requests spend 100 % of their time waiting here for a value: on average 8 wait at a time, while the program and its load use 20 % of the processors."},
		{2.25, 18, "Requests wait here for a value: on average 18 at a time, while the program and its load use 20 % of the processors. That is more than the load has under way: the program sends requests to itself, or goes on after the load has its answer."},
	} {
		if got := waiting(tt.share, tt.atATime, 0.2, "a value"); got != tt.want {
			t.Errorf("%g: %s, want %s", tt.share, got, tt.want)
		}
	}
}
