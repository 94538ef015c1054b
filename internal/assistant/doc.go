// Package assistant offers hone's commands to coding assistants, as a server of the Model Context
// Protocol (modelcontextprotocol.io) that uses its Go SDK.
//
// A tool is a command: its text is the command's output below the command line, so that a person
// can check what an assistant claims. Tools read only recordings in hone's cache and files below
// the directories that the user named. Tools that build and run a program exist only if the user
// allowed them, run for a limited time, and send load to loopback only. Names, source lines and
// messages come from the measured program: each answer says that they are data.
package assistant
