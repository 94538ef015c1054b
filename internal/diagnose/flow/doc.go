// Package flow follows values through functions to where they end up: strings, buffers, copies.
package flow
