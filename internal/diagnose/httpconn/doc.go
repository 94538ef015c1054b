// Package httpconn finds what HTTP clients spend on new connections.
package httpconn
