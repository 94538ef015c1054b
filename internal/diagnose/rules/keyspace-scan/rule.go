// Package keyspacescan finds commands of requests that make Redis visit all keys of its database.
package keyspacescan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// leastWaited is the minimum share of the requests' time that they wait for the command for that
// wait to matter more than its CPU.
const leastWaited = 0.1

// fraction of the command's cost: what is asked for instead takes a little time as well.
var fraction = rule.Fraction{Expect: 0.9, Low: 0.5, High: 1}

// Rule is keyspace-scan.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "keyspace-scan",
		Kind:  rule.IO,
		Needs: []rule.Need{rule.NeedCounts},
		Uses:  []rule.Need{rule.NeedTrace},
		Title: "All keys of Redis visited for a few",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim:   rule.Claim{Fraction: fraction, Specificity: 3, Removes: true},
			Prepare: prepare,
		},
	}
}

const doc = `KEYS user:42:* and SCAN with a pattern do not look the prefix up: Redis compares the
pattern with every key of the database, those of all other users and programs
too. KEYS does so in one go and serves nobody else meanwhile. SCAN does it in
steps, each a round trip: 100,000 keys with COUNT 100 are a thousand of them, for
perhaps ten keys that match. Both take longer with each key that anybody stores.

Keep the names where the keys are written, in the same pipeline: a set (SADD,
SREM, SMEMBERS; SCARD for their number), a sorted set by time if they expire, or
one hash in place of many keys (HSET, HGETALL). To drop all keys of a kind, put
a version number into their names and increment it.

It is fine in tools and in jobs that run seldom. The rule reports KEYS, and SCAN
of the whole database, by the clients go-redis, redigo and rueidis, that run for
at least one request in twenty. HSCAN and SSCAN visit one key's elements.

Seen in the field: ovh/cds#7833 (KEYS four times a second: 88 % of a core),
hibiken/asynq#254, metal-stack/go-ipam#78 and
LAA-Software-Engineering/golang-rest-api-template#123 (a cache cleared by KEYS).`

// sent is a line that sends such a command.
type sent struct {
	place *gocode.Place
	name  string // KEYS or SCAN
	runs  float64
	rows  []*site.Row
}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	lines := finder.Remember(p, func(f *site.Frame, place *gocode.Place) *sent { return look(p, place) })
	at := func(r *site.Row) int {
		for i := 1; i < len(r.Stack); i++ {
			if r.Stack[i].Owner.Kind == gocode.Main && client(r.Stack[i-1].Function) && lines.At(r.Stack[i]) != nil {
				return i
			}
		}
		return -1
	}
	served := map[string][]*site.Row{}
	p.EachRow(func(r *site.Row) {
		if i := at(r); i > 0 {
			s := lines.At(r.Stack[i])
			s.rows = append(s.rows, r)
		}
		if name := serves(r); name != "" {
			served[name] = append(served[name], r)
		}
	})
	judge := func(c *finder.Case) bool {
		s := lines.At(&c.Site.Frame)
		if s == nil {
			return false
		}
		s.describe(c)
		s.price(p, c, served[s.name])
		return true
	}
	return finder.Line{Start: finder.Frames(at), Judge: judge}
}

// client reports whether a function of a profile is one of a client of Redis.
func client(function string) bool {
	return funcname.Match(function, "github.com/redis/*", "github.com/go-redis/*", "github.com/gomodule/redigo/*", "gopkg.in/redis*")
}

// serves returns the command that a row of a server in the process works on; "" for others.
func serves(r *site.Row) string {
	for _, f := range r.Stack {
		if !strings.HasPrefix(f.Function, "github.com/alicebob/miniredis") {
			continue
		}
		switch {
		case strings.Contains(f.Function, ".cmdKeys"):
			return "KEYS"
		case strings.Contains(f.Function, ".cmdScan"):
			return "SCAN"
		}
	}
	return ""
}

// look returns the command that visits all keys on a line; nil for none, or for one that seldom
// runs.
func look(p *rule.Pass, place *gocode.Place) *sent {
	for _, call := range syntax.Calls(place) {
		name := command(place, place.CalleeName(call))
		if name == "" {
			for _, arg := range call.Args[:min(2, len(call.Args))] { // Do of redigo, with or without a context
				if text, ok := syntax.ConstString(place, arg); ok && strings.HasPrefix(place.CalleeName(call), "(github.com/gomodule/redigo/redis.") {
					name = of(strings.ToUpper(text))
				}
			}
		}
		if name == "" {
			continue
		}
		if runs, ok := evidence.ExecutionsAt(p, place, call.Lparen); ok && evidence.Hot(p, runs) {
			return &sent{place: place, name: name, runs: runs.PerUnit}
		}
	}
	return nil
}

// command returns the command of Redis that a method of a client sends, if that visits all keys.
func command(_ *gocode.Place, method string) string {
	if !strings.Contains(method, "redis") {
		return ""
	}
	name := method[strings.LastIndexByte(method, '.')+1:]
	if strings.Contains(method, "rueidis") && !strings.Contains(method, "Builder") || strings.Contains(method, "Cmd)") {
		return "" // (*ScanCmd).Iterator
	}
	return of(strings.ToUpper(name))
}

func of(name string) string {
	if slices.Contains([]string{"KEYS", "SCAN"}, name) {
		return name
	}
	return ""
}

func (s *sent) describe(c *finder.Case) {
	c.Confidence = rule.Likely
	c.CPU = s.rows
	how := "KEYS compares the pattern with every key of the database, and serves nobody else meanwhile"
	if s.name == "SCAN" {
		how = "SCAN with a pattern visits every key of the database, step by step, each a round trip, and returns those that match"
	}
	c.Cause = fmt.Sprintf("%s asks Redis for keys by a pattern, %s per %s. %s: the time grows with all keys that anybody stores, not with those that are found.",
		syntax.FuncName(s.place), evidence.Times(s.runs), c.Pass.Manifest.Unit(), how)
	c.Fix = "Keep the names in a set, a sorted set or a hash that is updated where the keys are written (SADD and SREM in the same pipeline), and read that: SMEMBERS, SCARD for their number, HGETALL for names and values. To drop all keys of a kind, put a version into their names and increment it."
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s per %s", units.Number(s.runs), c.Pass.Manifest.Unit())})
}

// price prices a command by what it costs a server in the same process, or by the time that
// requests wait for it, if that is long.
func (s *sent) price(p *rule.Pass, c *finder.Case, served []*site.Row) {
	waited, total := awaited.At(p, &c.Site.Frame)
	if t := traced.QueueAt(p, c.Site, leastWaited); t != nil && t.Waited > waited { // for a connection, too
		waited, total = t.Waited, t.Total
	}
	if busy := len(served) > 0; !busy && total > 0 && waited >= leastWaited*total {
		c.CPU, c.Allocs, c.Match.Fraction = nil, nil, nil
		c.Saving = traced.Saved(p, waited, total, fraction)
		c.Cause += fmt.Sprintf(" Requests wait there for %s of their time.", units.Percent(waited/total))
		c.Evidence = append(c.Evidence, rule.Evidence{What: "time of requests waiting for Redis here", Value: units.Seconds(waited) + " of " + units.Seconds(total), Command: evidence.ViewCommand(p, "requests")})
		return
	}
	seconds := 0.0
	for _, r := range slices.Concat(served, c.CPU) {
		seconds += float64(r.Value) / 1e9
	}
	if len(served) > 0 {
		c.Saving = &rule.Saving{Seconds: fraction.Expect * seconds, Low: fraction.Low * seconds, High: seconds, Cost: seconds}
		c.Evidence = append(c.Evidence, rule.Evidence{What: "CPU of the server of Redis in this process for the command", Value: units.Seconds(seconds)})
	}
}
