// Package watched answers what the functions cost whose inputs a recording counted, in all and per
// call.
package watched
