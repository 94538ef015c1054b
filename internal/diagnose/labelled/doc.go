// Package labelled recognizes calls that look metrics up by their labels, and tells labels with few
// values from those that have as many as clients send.
package labelled
