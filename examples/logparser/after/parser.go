package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// parser applies the rules. It may be used by many goroutines when its writer may.
type parser struct {
	steps   map[int][]step // by customer
	out     io.Writer
	tails   map[int]*tail // by customer, of those that have rules
	metrics *metrics
}

// step is a rule of a customer with the counters of its executions.
type step struct {
	rule
	applied, skipped prometheus.Counter
}

func newParser(rules map[int][]rule, out io.Writer) *parser {
	p := &parser{
		steps:   make(map[int][]step, len(rules)),
		out:     out,
		tails:   make(map[int]*tail, len(rules)),
		metrics: newMetrics(),
	}
	for customer, list := range rules {
		p.tails[customer] = new(tail)
		for _, rule := range list {
			p.steps[customer] = append(p.steps[customer], p.metrics.newStep(customer, rule))
		}
	}
	return p
}

// record is a log entry on its way through the rules.
type record struct {
	Customer int               `json:"customer"`
	Text     string            `json:"text"`
	Fields   map[string]string `json:"fields"`
}

// parse runs a customer's rules over a line and passes it on, unless a rule
// drops it. Lines of customers without rules pass as they are.
func (p *parser) parse(customer int, text string) (passed bool, err error) {
	r := &record{Customer: customer, Text: text, Fields: make(map[string]string)}
	steps := p.steps[customer]
	for i := range steps {
		step := &steps[i]
		applied, drop := step.execute(r)
		step.reportRuleExecution(applied)
		if drop {
			return false, nil
		}
	}
	line, err := json.Marshal(r)
	if err != nil {
		return false, fmt.Errorf("encode the record: %w", err)
	}
	if _, err := p.out.Write(line); err != nil {
		return false, fmt.Errorf("pass the record on: %w", err)
	}
	if t := p.tails[customer]; t != nil {
		t.add(r)
	}
	return true, nil
}

// metrics counts what the rules do.
type metrics struct {
	registry   *prometheus.Registry
	executions *prometheus.CounterVec
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		executions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rule_executions_total",
			Help: "Executions of parsing rules.",
		}, []string{"customer", "rule", "applied"}),
	}
	m.registry.MustRegister(m.executions)
	return m
}

// newStep looks the counters of a customer's rule up, so that counting is an
// addition: no label is formatted and no map is asked for each execution.
func (m *metrics) newStep(customer int, r rule) step {
	id := strconv.Itoa(customer)
	return step{
		rule:    r,
		applied: m.executions.WithLabelValues(id, r.name(), "true"),
		skipped: m.executions.WithLabelValues(id, r.name(), "false"),
	}
}

// reportRuleExecution counts one execution of a rule.
func (s *step) reportRuleExecution(applied bool) {
	if applied {
		s.applied.Inc()
	} else {
		s.skipped.Inc()
	}
}
