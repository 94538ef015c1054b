// Package ui serves recordings, profiles and traces to a browser, on loopback.
//
// Its main decision: every figure on a page is printed by a command. A view requests a command's
// JSON with the flags in the page's address, so nothing is computed twice, and a shared address
// shows the same page. The pages are plain JavaScript modules that draw that JSON; flame graphs,
// call graphs and timelines are the commands' own pages, in frames.
//
// The server rejects requests for another host name (DNS rebinding), methods other than GET (except
// for the two that start and stop a job), and paths of sources that it was not given. Pages run
// only its own scripts. Names in profiles are data: pages insert them as text, never as markup.
package ui
