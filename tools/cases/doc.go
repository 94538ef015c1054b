// Command cases writes docs/cases.md: what hone finds in the case studies below examples, and how
// its predicted savings compare with measured ones.
//
//	go run ./tools/cases -w                   # all five, 20 s a program
//	go run ./tools/cases -only C -duration 60s
//	go run ./tools/cases -runs 3              # is it found in all three runs?
//	go run ./tools/cases -litter allocating   # what does garbage cost the rest of a program?
//	go run ./tools/cases -requests            # do the requests found in a trace match the log?
//	go run ./tools/cases -promises -w         # docs/promises.md, part for a quiet machine: 15 min
//	go run ./tools/cases -promises -busy -w   # docs/promises.md, part for a busy machine
//	go run ./tools/cases -gc -w               # docs/tune-gc.md: predictions and measurements: 8 min
//
// Each program is recorded under the load that its main.go names, sent to a free
// port of the loopback, and diagnosed as any other target would be. What a
// diagnosis must find is data in expect.go: rule, function, line, module
// and version, all of which must be right for a culprit to count as found. The
// repaired program must show no finding of those rules.
//
// -promises compares the predictions for twenty repairs of ten small programs (examples/promises)
// with the savings of each repair. With -keep DIR, recordings and measurements are kept in DIR, and
// -again compares the predictions of the current code with the same measurements, in a minute.
//
// The prediction for a case is what the findings of its culprits save together (diagnose.Together).
// The measurement is how much less the repaired program spends per request or run, without
// profiles: two services run at the same time and are loaded interleaved, one second each; programs
// that run and exit are interleaved. No test asserts these figures, because they depend on the
// machine.
package main
