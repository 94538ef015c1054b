// Package encodedperreceiver finds messages that are encoded again for each of their receivers.
package encodedperreceiver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/codecs"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is encoded-per-receiver.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "encoded-per-receiver",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Message encoded again for each receiver",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match overrides it with the number of receivers.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.7, High: 1},
				Specificity: 3, // rules about how a value is encoded would still encode it for each
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A server sends an event to all its clients, subscribers or watchers, and each of
them encodes it: json.Marshal or WriteJSON in the method that sends, or in the
goroutine that takes events from the client's channel. The result is the same
bytes each time, so that the cost of an event grows with the number of clients.

Encode the event once, before the loop over the receivers, and give them the
bytes. If receivers want different formats, encode once for each format, when
the first of them asks. Prepared messages of websocket libraries also keep the
frame, compressed once (websocket.PreparedMessage).

It is fine where the message depends on its receiver: a number in the client's
sequence, fields that only some may see. The rule reports values that a counted
loop over the receivers does not change, and values that such a loop sends to
the channels of goroutines which encode them unchanged. It ignores encoders and
compressors that keep a state for the stream of their receiver.

Seen in the field: kubernetes/kubernetes#81914 (events for watchers; the design
in kubernetes/enhancements#924 measured 7 % less CPU), trezor/blockbook#1697,
hashrocket/websocket-shootout#21.`

// leastReceivers is the minimum number of times that a value is encoded.
const leastReceivers = 4

// outputs are functions that send what was encoded, or compress it for one receiver's stream: that
// work remains.
func outputs() []string {
	return []string{
		"internal/poll.(*FD).*", "syscall.*", "internal/runtime/syscall*", "crypto/tls.*", "net.(*conn).*", "net/http.(*response).*", "bufio.(*Writer).Flush",
		"compress/*", "github.com/klauspost/compress/*", "github.com/andybalholm/brotli.*",
	}
}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, encoders: codecs.Encoders(), outputs: outputs()}
	s.paths = finder.RememberPaths(deepest+2, s.inMain)
	return finder.Line{Start: finder.Frames(s.frame), Judge: s.judge}
}

// search examines the rows of one recording.
type search struct {
	pass              *rule.Pass
	encoders, outputs []string
	paths             *finder.Paths[found]
}

// found is a line that encodes the same value again for each receiver.
type found struct {
	value   string
	encoder string
	times   float64 // per value
	entries float64 // of the loop, per unit of work
	loop    string  // "line 12 of broadcast"
	sent    bool    // through channels
	// websocket says that a websocket library encodes the value.
	websocket bool
}

// frame returns the frame of the main module, nearest the leaf, that encodes a value for one of
// many receivers.
func (s *search) frame(r *site.Row) int {
	encoder := stacks.Outermost(r.Stack, s.encoders...) // a method MarshalJSON may encode parts
	if encoder < 0 || stacks.Outermost(r.Stack[:encoder], s.outputs...) >= 0 {
		return -1
	}
	return s.paths.From(r.Stack, encoder)
}

// inMain returns what the line of the main module nearest to an encoder encodes, and the index of
// its frame; nil for nothing.
func (s *search) inMain(stack []*site.Frame, encoder int) (*found, int) {
	at := encoder + slices.IndexFunc(stack[encoder:], func(f *site.Frame) bool { return f.Owner.Kind == gocode.Main })
	if at < encoder {
		return nil, 0
	}
	f := s.follow(stack, encoder, at)
	if f != nil {
		f.websocket = slices.ContainsFunc(stack[encoder:at], func(f *site.Frame) bool { return strings.Contains(f.Function, "websocket") })
	}
	return f, at
}

func (s *search) judge(c *finder.Case) bool {
	f := s.paths.At(&c.Site.Frame)
	if f == nil || s.varies(f) {
		return false
	}
	n, name := units.Number(f.times), symbol.Short(funcname.Typed(f.encoder))
	c.Confidence = rule.Likely
	c.Fraction = &rule.Fraction{Expect: 0.97 * (1 - 1/f.times), Low: 0.8 * (1 - 2/f.times), High: 1}
	c.Cause = fmt.Sprintf("%s encodes %s %s times, once for each receiver in the loop on %s. The result is the same each time.", name, f.value, n, f.loop)
	c.Fix = fmt.Sprintf("Encode %s once, before the loop on %s, and pass the bytes on.", f.value, f.loop)
	if f.sent {
		c.Cause = fmt.Sprintf("%s encodes %s in the goroutine of each receiver: the loop on %s sends one value to %s channels. The result is the same each time.", name, f.value, f.loop, n)
		c.Fix = fmt.Sprintf("Encode the value once, before the loop on %s, and send the bytes to the channels.", f.loop)
	}
	if f.websocket {
		c.Fix += " Prepared messages of websocket libraries keep the frame, too."
	}
	c.Evidence = append(c.Evidence, rule.Evidence{What: "receivers counted", Value: n + " for each value"})
	return true
}

// varies reports whether the encoder got other values nearly each time, by counted inputs.
func (s *search) varies(f *found) bool {
	const fewest, most = 50, 0.9
	in := s.pass.Inputs.Of(f.encoder)
	return in != nil && in.Hashed >= fewest && float64(in.Different) > most*float64(in.Hashed)
}
