package fix

import (
	"bytes"
)

// lineMap maps lines of a file through several changes.
type lineMap struct{ steps [][]int } // of each change, by old line from 1: the new line, 0 for one that is gone

// now returns the current number of a line of the first version; 0 if it was removed.
func (m *lineMap) now(line int) int {
	for _, step := range m.steps {
		if line <= 0 || line >= len(step) {
			return 0
		}
		line = step[line]
	}
	return line
}

// add adds a change. Lines are matched by the longest common subsequence. If a changed section has
// as many lines before as after, its lines are matched in order.
func (m *lineMap) add(old, new []byte) {
	a, b := bytes.Split(old, []byte("\n")), bytes.Split(new, []byte("\n"))
	step := make([]int, len(a)+1)
	front := 0
	for front < min(len(a), len(b)) && bytes.Equal(a[front], b[front]) {
		step[front+1] = front + 1
		front++
	}
	back := 0
	for back < min(len(a), len(b))-front && bytes.Equal(a[len(a)-1-back], b[len(b)-1-back]) {
		step[len(a)-back] = len(b) - back
		back++
	}
	matchMiddle(step, a[front:len(a)-back], b[front:len(b)-back], front)
	pairUp(step, len(b))
	m.steps = append(m.steps, step)
}

// matchMiddle matches equal lines of two sections that start after front lines.
func matchMiddle(step []int, a, b [][]byte, front int) {
	// length[i][j] is that of the longest common subsequence of a[i:] and b[j:].
	length := make([][]int32, len(a)+1)
	for i := range length {
		length[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if bytes.Equal(a[i], b[j]) {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case bytes.Equal(a[i], b[j]):
			step[front+i+1] = front + j + 1
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
}

// pairUp matches changed lines in order if a section has as many of them before as after.
func pairUp(step []int, lines int) {
	for i := 1; i < len(step); i++ {
		if step[i] != 0 {
			continue
		}
		end := i
		for end < len(step) && step[end] == 0 {
			end++
		}
		from, to := step[i-1], lines+1
		if end < len(step) {
			to = step[end]
		}
		if to-from-1 == end-i {
			for k := i; k < end; k++ {
				step[k] = from + 1 + k - i
			}
		}
		i = end
	}
}
