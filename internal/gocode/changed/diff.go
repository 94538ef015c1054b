package changed

import (
	"slices"
	"strings"
)

// Line is a line of a diff: removed, added, or in both.
type Line struct {
	Op       byte // '-', '+' or ' '
	Old, New int  // its numbers; 0 in the release that does not have it
	Text     string
}

const (
	diffContext = 2
	maxDiff     = 24
	maxCells    = 4 << 20 // of the table that finds common lines
)

// diff compares the text of two declarations. Of many changes it keeps those that are largest.
func diff(was, now *function) []Line {
	all := diffLines(was.textLines(), now.textLines())
	for i := range all {
		if all[i].Old > 0 {
			all[i].Old += was.file.line(was.decl.Pos()) - 1
		}
		if all[i].New > 0 {
			all[i].New += now.file.line(now.decl.Pos()) - 1
		}
	}
	return largest(hunks(all))
}

func (f *function) textLines() []string {
	return strings.Split(string(f.file.source(f.decl.Pos(), f.decl.End())), "\n")
}

// diffLines compares lists of lines, by their longest common subsequence.
func diffLines(a, b []string) (out []Line) {
	same := func(i, j int) bool { return strings.TrimSpace(a[i]) == strings.TrimSpace(b[j]) }
	start := 0
	for start < len(a) && start < len(b) && same(start, start) {
		out = append(out, Line{' ', start + 1, start + 1, b[start]})
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && same(len(a)-1-end, len(b)-1-end) {
		end++
	}
	out = append(out, middle(a, b, start, len(a)-end, len(b)-end, same)...)
	for k := end; k > 0; k-- {
		out = append(out, Line{' ', len(a) - k + 1, len(b) - k + 1, b[len(b)-k]})
	}
	return out
}

func middle(a, b []string, start, endA, endB int, same func(i, j int) bool) (out []Line) {
	n, m := endA-start, endB-start
	if n > 0 && m > maxCells/n {
		n, m = 0, 0 // too much to compare: everything differs
	}
	w := m + 1
	common := make([]int32, (n+1)*w) // lengths for the rests of both
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if same(start+i, start+j) {
				common[i*w+j] = common[(i+1)*w+j+1] + 1
			} else {
				common[i*w+j] = max(common[(i+1)*w+j], common[i*w+j+1])
			}
		}
	}
	i, j := start, start
	for i < start+n && j < start+m {
		switch at := (i-start)*w + j - start; {
		case same(i, j):
			out = append(out, Line{' ', i + 1, j + 1, b[j]})
			i++
			j++
		case common[at+w] >= common[at+1]:
			out = append(out, Line{'-', i + 1, 0, a[i]})
			i++
		default:
			out = append(out, Line{'+', 0, j + 1, b[j]})
			j++
		}
	}
	for ; i < endA; i++ {
		out = append(out, Line{'-', i + 1, 0, a[i]})
	}
	for ; j < endB; j++ {
		out = append(out, Line{'+', 0, j + 1, b[j]})
	}
	return out
}

// hunks returns the parts of a diff that change something, with the lines around them.
func hunks(all []Line) (list [][]Line) {
	for i := 0; i < len(all); {
		if all[i].Op == ' ' {
			i++
			continue
		}
		from, to := max(i-diffContext, 0), i+1
		for k := i; k < len(all) && k <= to+2*diffContext; k++ {
			if all[k].Op != ' ' {
				to = k
			}
		}
		i = to + 1
		list = append(list, all[from:min(to+1+diffContext, len(all))])
	}
	return list
}

// largest keeps the hunks with most changes, as far as there is room, in their order.
func largest(list [][]Line) (out []Line) {
	changes := func(h []Line) (n int) {
		for _, l := range h {
			if l.Op != ' ' {
				n++
			}
		}
		return n
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return changes(list[b]) - changes(list[a]) })
	keep := map[int]bool{}
	room := maxDiff
	for _, i := range order {
		if len(list[i]) <= room || room == maxDiff {
			keep[i] = true
			room -= len(list[i])
		}
	}
	for i, h := range list {
		if keep[i] {
			out = append(out, h[:min(len(h), maxDiff)]...)
		}
	}
	return out
}
