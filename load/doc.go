// Package load sends HTTP requests on a schedule and measures what comes back.
package load
