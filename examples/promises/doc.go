// Package promises holds ten small programs with twenty known mistakes, by which the savings that
// hone promises are measured.
//
// Each program is built with its mistakes as it stands. The build tag fix_NAME repairs one of them:
// NAME_before.go and NAME_after.go have the same functions, and everything else is unchanged. What
// a repair saves is then the difference between two builds; what hone promised for it comes from a
// recording of the build without tags. The command
//
//	go run ./tools/cases -promises
//
// from the root of hone's repository sets the two side by side, in docs/promises.md.
//
// Six programs are services (orders, search, inbox, archive, quotes, sessions), two run and exit
// (logstat, wordgraph), and two are packages with a benchmark (codec, invoice). Their tests hold
// for every choice of repairs; the test of this package runs them with each.
package promises
