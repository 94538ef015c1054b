package main

import (
	"regexp"
	"strconv"
	"strings"
)

// rule is one step of a customer's parsing.
type rule interface {
	name() string
	// execute looks at a record and may change it. It reports whether the rule
	// applied, and whether the record is to be dropped.
	execute(r *record) (applied, drop bool)
}

// block drops records whose text contains a word.
type block struct{ label, word string }

func (b *block) name() string { return b.label }

func (b *block) execute(r *record) (applied, drop bool) {
	found := strings.Contains(r.Text, b.word)
	return found, found
}

// extract makes a field of each named group of a pattern.
type extract struct {
	label   string
	pattern *regexp.Regexp
	groups  []string
}

func newExtract(label, pattern string) *extract {
	re := regexp.MustCompile(pattern)
	return &extract{label: label, pattern: re, groups: re.SubexpNames()}
}

func (e *extract) name() string { return e.label }

func (e *extract) execute(r *record) (applied, drop bool) {
	at := e.pattern.FindStringSubmatchIndex(r.Text)
	if at == nil {
		return false, false
	}
	for i, group := range e.groups {
		if group != "" && at[2*i] >= 0 {
			r.Fields[group] = r.Text[at[2*i]:at[2*i+1]]
		}
	}
	return true, false
}

// pairs makes a field of each word of the form KEY=VALUE.
type pairs struct{ label string }

func (p *pairs) name() string { return p.label }

func (p *pairs) execute(r *record) (applied, drop bool) {
	for _, word := range strings.Fields(r.Text) {
		if key, value, ok := strings.Cut(word, "="); ok {
			r.Fields[key] = value
			applied = true
		}
	}
	return applied, false
}

// mask hides a field's value.
type mask struct{ label, field string }

func (m *mask) name() string { return m.label }

func (m *mask) execute(r *record) (applied, drop bool) {
	if _, there := r.Fields[m.field]; !there {
		return false, false
	}
	r.Fields[m.field] = "***"
	return true, false
}

// rename gives a field the name that the customer knows it by.
type rename struct{ label, from, to string }

func (n *rename) name() string { return n.label }

func (n *rename) execute(r *record) (applied, drop bool) {
	value, there := r.Fields[n.from]
	if !there {
		return false, false
	}
	delete(r.Fields, n.from)
	r.Fields[n.to] = value
	return true, false
}

// blockValue drops records by the value of a field.
type blockValue struct{ label, field, value string }

func (b *blockValue) name() string { return b.label }

func (b *blockValue) execute(r *record) (applied, drop bool) {
	found := r.Fields[b.field] == b.value
	return found, found
}

// sampleRules gives n customers the rules that they might have written. Each
// customer's patterns and names are its own.
func sampleRules(n int) map[int][]rule {
	rules := make(map[int][]rule, n)
	for i := range n {
		id := firstCustomer + i
		own := strconv.Itoa(id)
		rules[id] = []rule{
			&block{"no-health", "GET /healthz"},
			&block{"no-metrics", "GET /metrics"},
			newExtract("head", `^(?P<time>\S+) (?P<level>[A-Z]+) (?P<app_`+own+`>[a-z]+):`),
			&blockValue{"no-debug", "level", "DEBUG"},
			&pairs{"pairs"},
			&blockValue{"no-tests", "env", "test"},
			&mask{"hide-user", "user"},
			&mask{"hide-mail", "mail"},
			&rename{"took", "took", "millis_" + own},
			&rename{"order", "order", "order_" + own},
		}
	}
	return rules
}

// firstCustomer is the lowest number of a customer.
const firstCustomer = 10_000
