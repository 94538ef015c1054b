// Package caching recognizes functions that look up a key in a cache and fill it on a miss.
package caching
