// Package awaited joins the waits of requests in the trace with the calls of the program's
// functions that lead to them.
package awaited
