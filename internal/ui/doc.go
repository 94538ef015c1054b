// Package ui serves recordings, profiles and traces to a browser, on loopback.
//
// The decision behind it: every figure on a page is one that a command prints. A view asks the server for a command's JSON,
// with flags that the address of the page holds, so that nothing is computed twice and a shared address shows the same. The
// pages are plain modules that draw that; flame graphs, call graphs and timelines are the commands' own pages, in frames.
//
// What it refuses: requests under another host name (DNS rebinding), anything but GET, paths that no source was given for,
// scripts that are not its own. What profiles call their functions is data: the pages set text, never markup.
package ui
