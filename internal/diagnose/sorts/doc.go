// Package sorts recognizes calls that sort a list.
package sorts
