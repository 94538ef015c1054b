package main

// closed reports nothing: there is no SIGPIPE.
func closed(...int) bool { return false }
