package render

import (
	"fmt"
	"io"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/wall"
)

// waker names what ended a wait.
func waker(l exectrace.Line) string {
	if l == (exectrace.Line{}) {
		return "network, timer or runtime"
	}
	return place(l)
}

// waitReason names what a goroutine waits for: the tracer reports "sync" for all locks.
func waitReason(reason, object string) string {
	if object != "" && (reason == "sync" || object == "collector") {
		return object
	}
	return reason
}

// TraceBlocking draws where goroutines waited and what ended the waits.
func TraceBlocking(w io.Writer, r *wall.Blocking, p TracePage, s Style) {
	rows := [][]string{{"waited", "times", "mean", "longest", "for", "at"}}
	n := p.rows(len(r.Waits), 20)
	for _, wt := range r.Waits[:n] {
		at := place(wt.Line)
		if wt.Open > 0 {
			at += s.paint(faint, fmt.Sprintf("  (%s still wait)", group(float64(wt.Open))))
		}
		rows = append(rows, []string{seconds(wt.Seconds), group(float64(wt.Count)), seconds(wt.Seconds / float64(max(1, wt.Count))), seconds(wt.Max), waitReason(wt.Reason, wt.Object), at})
		for _, c := range wt.Callers[:min(2, len(wt.Callers))] {
			rows = append(rows, []string{"", "", "", "", s.paint(faint, "called at"), s.paint(faint, fmt.Sprintf("%s (%s)", place(c.Line), group(float64(c.Count))))})
		}
		for _, k := range wt.Wakers[:min(2, len(wt.Wakers))] {
			rows = append(rows, []string{"", "", "", "", s.paint(faint, "woken by"), s.paint(faint, fmt.Sprintf("%s (%s)", waker(k.Line), group(float64(k.Count))))})
		}
	}
	columns(w, s, rows, 0, 1, 2, 3)
	locks(w, r.Locks, p, s)
	if len(r.Handoffs) > 0 {
		fmt.Fprintln(w)
		fmt.Fprintln(w, s.paint(strong, "Hand-offs over channels"))
		rows := [][]string{{"times", "work between", "waits at", "until"}}
		for _, h := range r.Handoffs[:p.rows(len(r.Handoffs), 8)] {
			until := place(h.Waker)
			if h.Mutual {
				until += "  (they take turns)"
			}
			rows = append(rows, []string{group(float64(h.Count)), seconds(h.Work), place(h.Waiter), until})
		}
		columns(w, s, rows, 0, 1)
	}
	if len(r.Polls) > 0 {
		fmt.Fprintln(w)
		fmt.Fprintln(w, s.paint(strong, "Polling by sleep"))
		rows := [][]string{{"times", "sleeps", "works between", "at"}}
		for _, x := range r.Polls[:p.rows(len(r.Polls), 5)] {
			rows = append(rows, []string{group(float64(x.Count)), seconds(x.Sleep), seconds(x.Work), place(x.Line)})
		}
		columns(w, s, rows, 0, 1, 2)
	}
	p.foot(w, s, n, len(r.Waits), "places")
}

func locks(w io.Writer, ls []wall.Lock, p TracePage, s Style) {
	if len(ls) == 0 {
		return
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, s.paint(strong, "Locks"))
	rows := [][]string{{"waited", "times", "queue", "crowded", "held", "kind", "waits at", "unlocked at"}}
	for _, l := range ls[:p.rows(len(ls), 8)] {
		kind := l.Kind
		if l.Convoy {
			kind = s.paint(bad, kind+" convoy")
		}
		holder := "-"
		if len(l.Holders) > 0 {
			holder = place(l.Holders[0].Line)
		}
		rows = append(rows, []string{seconds(l.Seconds), group(float64(l.Count)), significant(l.Queue), percent(l.Crowded), seconds(l.Hold), kind, place(l.Waiters[0].Line), holder})
	}
	columns(w, s, rows, 0, 1, 2, 3, 4)
}

// TraceWakers draws what ended waits, and which waits.
func TraceWakers(w io.Writer, r *wall.Wakings, p TracePage, s Style) {
	rows := [][]string{{"waited", "times", "mean", "for", "woken at"}}
	n := p.rows(len(r.Wakings), 20)
	for _, k := range r.Wakings[:n] {
		rows = append(rows, []string{seconds(k.Seconds), group(float64(k.Count)), seconds(k.Seconds / float64(max(1, k.Count))), "", waker(k.Line)})
		for _, x := range k.Woken[:min(3, len(k.Woken))] {
			rows = append(rows, []string{"", "", "", s.paint(faint, waitReason(x.Reason, x.Object)),
				s.paint(faint, fmt.Sprintf("waited at %s (%s)", place(x.Line), group(float64(x.Count))))})
		}
	}
	columns(w, s, rows, 0, 1, 2)
	if r.OpenCount > 0 {
		fmt.Fprintln(w, s.paint(faint, fmt.Sprintf("%s had not ended when the trace ended: %s", plural(int(r.OpenCount), "wait"), seconds(r.OpenSeconds))))
	}
	p.foot(w, s, n, len(r.Wakings), "places")
}
