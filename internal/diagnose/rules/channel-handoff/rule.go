// Package channelhandoff finds channels on which goroutines block for every small item.
package channelhandoff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/diagnose/chaniter"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/stats"
)

const (
	// fewest waits on one channel, and in a second of the trace.
	fewest, fewestRate = 1000, 1000
	// mostlyBrief is the minimum share of the waits that come after less than 5 µs of work.
	mostlyBrief = 0.5
	// leastShare of the program's CPU that the channel must take. It takes less than a tenth of it
	// if the work between sends is worth the switches.
	leastShare = 0.05
)

// fraction of the cost of parking, waking and the channel itself that batches save. With a hundred
// items in each it is nearly all; a buffer alone saves the parking but not the channel's lock.
var fraction = rule.Fraction{Expect: 0.8, Low: 0.5, High: 1}

// Rule is channel-handoff.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "channel-handoff",
		Kind:   rule.Block,
		Needs:  []rule.Need{rule.NeedTrace},
		Uses:   []rule.Need{rule.NeedCounts},
		Title:  "Goroutines synchronize on a channel for every small item",
		Doc:    doc,
		Finder: finder.Trace{Judge: find},
	}
}

const doc = `A send on an unbuffered channel blocks until a receiver is ready. When the work
on an item takes about as long as the switch, sender and receiver stop and start
for each item: they park, are woken, and neither works ahead. More workers make
it worse, since they all contend for the channel's lock.

Send batches: sending a slice of a hundred items costs as much as sending one
item. If the items are consecutive numbers, send ranges, or give each worker a
range and no channel at all. A buffer is the smallest change: the sender runs
ahead, and receivers find items ready.

It is fine when the synchronization is the point: an unbuffered channel also
guarantees that the receiver has the item. It is fine when the work for each
item takes 50 µs or more, and when the sender waits for a reply before it goes on
(from a channel in the message, or beside the first): it has one item, and no
batch. The rule reports neither, except where a request asks a goroutine that
owns some state for each element of a loop, 16 times and more: one message with
all of them, or a lock instead of the goroutine, has no such switches.

Seen in the field: bookingcom/nanotube#176, golang/go#57070; "High Performance
Go Workshop" (Cheney): sending single pixels through an unbuffered channel took
2.65 s, with a buffer 0.77 s.`

// handoff is the waits for one channel that the trace shows, at the lines that send and receive.
type handoff struct {
	sender, receiver exectrace.Line
	sends, receives  int64 // waits of both sides
	brief            int64
}

func (h *handoff) count() int64 { return h.sends + h.receives }

func find(p *rule.Pass) []rule.Match {
	var matches []rule.Match
	length := p.Trace.Parallelism.Length
	iterators := chaniter.InTrace(p)
	for _, h := range handoffs(p) {
		n := float64(h.count())
		if n < fewest || n < fewestRate*length || float64(h.brief) < mostlyBrief*n {
			continue
		}
		s := traced.SiteAt(p, h.sender)
		if s == nil || exchanged(p, h) != nil || iterates(iterators, h) {
			continue
		}
		if m, ok := match(p, h, s); ok {
			matches = append(matches, m)
		}
	}
	return append(matches, asked(p)...)
}

// iterates reports whether a hand-off is that of an iterator, about which another rule knows more.
func iterates(all []chaniter.Started, h *handoff) bool {
	return slices.ContainsFunc(all, func(it chaniter.Started) bool {
		return it.Sends(h.sender.File, h.sender.Line) || it.Sends(h.receiver.File, h.receiver.Line)
	})
}

// handoffs sums the waits for channels by the line that sends, most first. The receiver is the line
// with most waits.
func handoffs(p *rule.Pass) []*handoff {
	by := map[exectrace.Line]*handoff{}
	var list []*handoff
	for _, h := range p.Trace.Blocking.Handoffs { // most frequent first
		sender, receiver, sends := h.Waker, h.Waiter, false
		if h.Reason == "chan send" || h.Reason == "select" && !sendsAt(p, h.Waker) {
			sender, receiver, sends = h.Waiter, h.Waker, true
		}
		sum := by[sender]
		if sum == nil {
			sum = &handoff{sender: sender, receiver: receiver}
			by[sender] = sum
			list = append(list, sum)
		}
		if sends {
			sum.sends += h.Count
		} else {
			sum.receives += h.Count
		}
		sum.brief += h.Brief
	}
	slices.SortStableFunc(list, func(a, b *handoff) int { return cmp.Compare(b.count(), a.count()) })
	return list
}

func match(p *rule.Pass, h *handoff, s *site.Site) (rule.Match, bool) {
	callees := []string{"runtime.chansend*", "runtime.chanrecv*", "runtime.selectgo", "runtime.selectnbsend", "runtime.selectnbrecv"}
	sites := []*site.Site{s}
	if r := traced.SiteAt(p, h.receiver); r != nil && h.receiver != h.sender {
		sites = append(sites, r)
	}
	cost := traced.Switching(p, h.count(), sites, callees...)
	total := p.Table.Totals.TotalSeconds
	if cost == (stats.Interval{}) || cost.Value < leastShare*total {
		return rule.Match{}, false
	}
	m := rule.Match{
		Site:    s,
		Callees: callees,
		Saving:  fraction.Part(cost),
		Evidence: []rule.Evidence{
			{What: "waits over this channel in the trace", Value: fmt.Sprintf("%s of senders, %s of receivers in %s", units.Count(h.sends), units.Count(h.receives), units.Seconds(p.Trace.Parallelism.Length)), Command: evidence.ViewCommand(p, "blocking")},
			{What: "came after less than 5 µs of work", Value: units.Percent(float64(h.brief) / float64(h.count()))},
			{What: "CPU for the channel, parking and waking", Value: units.Percent(min(1, cost.Value/total)), Command: evidence.TopCommand(p, "cpu")},
		},
	}
	for _, at := range sites {
		m.CPU = append(m.CPU, stacks.Select(at.CPU, func(r *site.Row) bool { return stacks.Calls(r, callees...) })...)
	}
	words(p, h, &m)
	return m, true
}

// words returns the cause and the fix, by what the source shows about the channel.
func words(p *rule.Pass, h *handoff, m *rule.Match) {
	c := channelOf(p, h)
	name := "the channel " + c.name
	if c.name == "" {
		name = "a channel"
	}
	to := evidence.Near(p, m.Site, h.receiver)
	waits := fmt.Sprintf("%s times a goroutine waited for the other side, %s of them after less than 5 µs of work",
		units.Count(h.count()), units.Percent(float64(h.brief)/float64(h.count())))
	batches := "Send batches (a slice of items, or a range of numbers) instead of single items"
	buffer := "a buffer of some hundred, if no sender relies on its item being received when the send returns"
	m.Confidence = rule.Measured
	switch both := min(h.sends, h.receives) >= h.count()/10; {
	case c.room == none:
		m.Cause = fmt.Sprintf("Sender and receiver wait for each other at each item of the unbuffered channel %s to %s: %s.", c.name, to, waits)
		m.Fix = batches + "; the smallest change is " + buffer + "."
	case c.room == some:
		m.Cause = fmt.Sprintf("Each small item is sent separately through %s to %s. The channel has room for %s items, but %s.", name, to, c.size, waits)
		m.Fix = batches + ". More room would not help much: the channel is always full or always empty."
	case both && c.size != "":
		m.Confidence = rule.Likely
		m.Cause = fmt.Sprintf("Sender and receiver of %s to %s wait alternately at each item, as if the channel were unbuffered: its capacity (%s) was zero or nearly zero. %s.", name, to, c.size, upper(waits))
		m.Fix = batches + "; the smallest change is " + buffer + "."
	case both:
		m.Confidence = rule.Likely
		m.Cause = fmt.Sprintf("Sender and receiver of %s to %s wait alternately at each item. %s.", name, to, upper(waits))
		m.Fix = batches + "; if the channel has no buffer, adding one is the smallest change."
	default:
		m.Confidence = rule.Likely
		m.Cause = fmt.Sprintf("Each small item is sent separately through %s to %s: %s.", name, to, waits)
		m.Fix = batches + "."
	}
	if c.name == "" {
		m.Confidence = rule.Hint // the trace alone
	}
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
