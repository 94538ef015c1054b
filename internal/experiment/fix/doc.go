// Package fix turns findings into changes of the user's source that are shown, tested, measured and
// only then written.
//
// The order is the decision behind it. All changes are made in a copy of the commit. There the go
// command vets them and runs the tests of the changed packages and of those that import them. Then
// hone builds the program and runs it interleaved with the unchanged tree, under the load of the
// recording. The user's files are written last, all at once, and only if all of that succeeded: if
// it ends earlier, nothing has changed.
package fix
