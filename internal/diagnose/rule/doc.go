// Package rule is the vocabulary that diagnosis rules are written in: what a
// rule is, what it sees (Pass) and what it answers (Match).
package rule
