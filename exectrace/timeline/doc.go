// Package timeline collects what a drawing of a window of a trace, or of some of its goroutines,
// shows: a row of spans for each goroutine and each processor, who woke whom, and the times of
// garbage collections and of stops of the world.
//
// It keeps no more spans than a page can show. If there are too many, the shortest are merged into
// their neighbours, and a span that was merged is marked.
package timeline
