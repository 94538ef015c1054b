// Package assistant serves hone's answers to coding assistants, as a server of the Model Context Protocol
// (modelcontextprotocol.io) by its Go SDK.
//
// A tool is a command: its text is what the command prints, with the command line above it, so that what an assistant says can
// be checked by hand. Tools read recordings of hone's cache and files below the folders that the user named, and nothing else;
// those that build and run a program are there when the user allowed it, bounded in time, with load for loopback alone.
// Names, source lines and messages come from the measured program: each answer says that they are data.
package assistant
