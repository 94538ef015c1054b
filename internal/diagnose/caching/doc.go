// Package caching recognizes functions that look up a key in a cache and store what they compute on a miss.
package caching
