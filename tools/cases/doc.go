// Command cases re-makes the table of docs/cases.md: what hone finds in the case
// studies below examples, and how its promises compare with the facts.
//
//	go run ./tools/cases -w                   # all five, 20 s a program
//	go run ./tools/cases -only C -duration 60s
//	go run ./tools/cases -runs 3              # found in three runs out of three?
//	go run ./tools/cases -litter allocating   # what does garbage cost others?
//	go run ./tools/cases -requests            # are the requests in a trace those that there were?
//	go run ./tools/cases -promises -w         # docs/promises.md, its part for a quiet machine: 15 minutes
//	go run ./tools/cases -promises -busy -w   # and its part for a busy one
//
// Each program is recorded under the load that its main.go names, sent to a free
// port of the loopback, and diagnosed as any other target would be. What a
// diagnosis must find is data in expect.go: rule, function, line, module
// and version, all of which must be right for a culprit to count as found. The
// repaired program must show no finding of those rules.
//
// The promises for twenty repairs of ten small programs, examples/promises, are set beside what
// each repair saves by -promises. With -keep DIR the recordings and what was measured stay there, and
// -again sets what hone promises now beside the same facts, in a minute.
//
// The promise for a case is what the findings of its culprits save together
// (diagnose.Together); the fact is what the repaired program spends less per request or run, without
// profiles: two services run at the same time and are loaded interleaved, a second each; programs that
// run and exit are interleaved.
// Nothing here is asserted by a test, for it depends on the machine.
package main
