// Package histogram holds latency distributions in fixed memory.
package histogram
