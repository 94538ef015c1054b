// Package fix turns findings into changes of the user's source that are shown, tested, measured and only then written.
//
// The order is the decision behind it. All changes are made of a copy of the commit; there the go command vets them and
// runs the tests of the changed packages and of those that import them; there hone builds the program and runs it in turns with
// the tree as it is, under the load of the recording. The user's files are written last, in one go, and only when all of that
// came out well: whenever it ends before, nothing has changed.
package fix
