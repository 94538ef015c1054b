// Package rules lists the diagnosis rules. Each has a folder of its own; adding one is that folder, and
// go test -run TestRegistry -update, which lists it in registry.go.
//
// A rule's folder, named by its ID, holds rule.go (what it is, its prose with a
// case from the field, how it finds) and two programs that exit after about a
// second of CPU: testdata/caught.txtar, each guilty line marked "// want ID", and
// testdata/nearmiss.txtar, which looks guilty and is not. What a run of them showed is recorded in text
// files beside them (*.run, see package ruletest). This package's test reads those: a rule must find the
// marked lines and no others, and no rule may accuse a near miss. With -tags live, TestLive builds and
// runs each program instead. What more there is to prove of one rule (its words, figures that a test makes
// up) is in ID_test.go here, not in the rule's folder: a test binary costs seconds to build. Only a test of what
// the rule's package does not export stays with it.
//
// A rule knows the language, the standard library and public modules; it never knows a program.
package rules
