// Package httpconn determines what HTTP clients spend on new connections.
package httpconn
