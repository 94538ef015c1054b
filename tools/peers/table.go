package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// target is hone's target for a row; zero values are no target.
type target struct {
	ratio float64 // the other tool's CPU / hone's, at least
	cpu   float64 // hone's CPU seconds, at most
	peak  float64 // hone's MiB, at most
	page  float64 // kB of hone's page, at most
}

// goal is one number of a target.
type goal struct {
	text    string
	reached bool
}

func (t target) goals(peer, ours usage) []goal {
	var goals []goal
	add := func(wanted bool, text string, reached bool) {
		if wanted {
			goals = append(goals, goal{text, reached})
		}
	}
	add(t.ratio > 0, fmt.Sprintf("≥ %g×", t.ratio), peer.cpu >= t.ratio*ours.cpu)
	add(t.page > 0, fmt.Sprintf("≤ %g kB", t.page), ours.page <= t.page)
	add(t.cpu > 0, fmt.Sprintf("≤ %g s", t.cpu), ours.cpu <= t.cpu)
	add(t.peak > 0, fmt.Sprintf("≤ %g MiB", t.peak), ours.peak <= t.peak) // 0 if unknown
	return goals
}

// String names all goals.
func (t target) String() string {
	var texts []string
	for _, g := range t.goals(usage{}, usage{}) {
		texts = append(texts, g.text)
	}
	return strings.Join(texts, ", ")
}

// judge says whether the target was reached, or which goals were missed.
func (t target) judge(peer, ours usage) string {
	var missed []string
	for _, g := range t.goals(peer, ours) {
		if !g.reached {
			missed = append(missed, g.text)
		}
	}
	if len(missed) > 0 {
		return "not reached: " + strings.Join(missed, ", ")
	}
	return "reached"
}

// row is one line of an area's table.
type row struct {
	what   string
	names  [2]string // the other tool's and hone's
	usages [2]usage
	target target
	skip   string // why it was not measured; "" if it was
}

func printTable(out io.Writer, rows []row) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\ttool\tCPU s\tpeak MiB\tpage kB\tCPU ratio\tmemory ratio\ttarget\t")
	for _, r := range rows {
		if r.skip != "" {
			fmt.Fprintf(w, "%s\tnot measured\t\t\t\t\t\t%s\tsee below\n", r.what, r.target)
			continue
		}
		peer, ours := r.usages[0], r.usages[1]
		fmt.Fprintf(w, "%s\t%s\t%.3f\t%.0f\t%s\t\t\t\t\n", r.what, r.names[0], peer.cpu, peer.peak, kB(peer.page))
		fmt.Fprintf(w, "\t%s\t%.3f\t%.0f\t%s\t%.1f×\t%s\t%s\t%s\n", r.names[1], ours.cpu, ours.peak, kB(ours.page),
			peer.cpu/ours.cpu, memoryRatio(peer, ours), r.target, r.target.judge(peer, ours))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		if r.skip != "" {
			fmt.Fprintf(out, "%s: %s\n", r.what, r.skip)
		}
	}
	return nil
}

// memoryRatio returns "" if the system does not report memory.
func memoryRatio(peer, ours usage) string {
	if ours.peak == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f×", peer.peak/ours.peak)
}

func kB(size float64) string {
	if size == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f", size)
}
