// Package traced describes what the execution trace shows about lines and requests, and what
// shorter waits save.
//
// Savings come from the queueing model of package queueing. The low bound gives other processes all
// the CPU that the service leaves idle, the high bound none of it.
package traced
