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
	rules   map[int][]rule // by customer
	out     io.Writer
	tails   map[int]*tail // by customer, of those that have rules
	metrics *metrics
}

func newParser(rules map[int][]rule, out io.Writer) *parser {
	tails := make(map[int]*tail, len(rules))
	for customer := range rules {
		tails[customer] = new(tail)
	}
	return &parser{rules: rules, out: out, tails: tails, metrics: newMetrics()}
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
	for _, rule := range p.rules[customer] {
		applied, drop := rule.execute(r)
		p.metrics.reportRuleExecution(customer, rule.name(), applied)
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

// reportRuleExecution counts one execution of a rule.
func (m *metrics) reportRuleExecution(customerID int, rule string, applied bool) {
	m.executions.WithLabelValues(strconv.Itoa(customerID), rule, strconv.FormatBool(applied)).Inc()
}
