// Package timeline gathers what there is to draw of a window of a trace, or of some of its
// goroutines: a row of spans for each goroutine and each processor, who woke whom, and
// the collector's and the stopped world's stretches.
//
// It keeps no more spans than a page can show. When there are too many, the
// shortest melt into their neighbours, and a span that holds several says so.
package timeline
