// Package rules lists the diagnosis rules. Each has its own folder; to add one, add the folder and
// run go test -run TestRegistry -update, which lists it in registry.go.
//
// A rule's folder, named by its ID, contains rule.go (what the rule is, its prose with a case from
// the field, how it finds) and two programs that exit after about a second of CPU:
// testdata/caught.txtar, in which each wrong line is marked "// want ID", and
// testdata/nearmiss.txtar, which looks similar but is right. What a run of them showed is recorded
// in text files next to them (*.run, see package ruletest). This package's test reads those: a rule
// must find the marked lines and no others, and no rule may report a near miss. With -tags live,
// TestLive builds and runs each program instead. Further tests of one rule (its words, figures that
// a test makes up) are in ID_test.go here, not in the rule's folder, because a test binary takes
// seconds to build. Only tests of what the rule's package does not export are in the folder.
//
// A rule knows the language, the standard library and public modules; it never knows a program.
package rules
