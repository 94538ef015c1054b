// Package loglevel recognizes calls of loggers that test a level before they use their arguments.
package loglevel
