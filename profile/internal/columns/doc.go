// Package columns stores the stacks of many rows in one column of int32 and finds
// rows with equal stacks. The column is paged, so that growth never copies it.
package columns
