// Command field compares hone's findings on real bugs of public modules with the known faults.
//
//	go run ./tools/field -w DIR             # records the cases in DIR/cases, writes docs/field.md: 15 min
//	go run ./tools/field -only 04,27 DIR
//	go run ./tools/field -pairs -w -only 04,27 DIR                 # keeps the latest results of other cases
//	go run ./tools/field -fixed DIR         # the same for the fixed versions: nothing may be reported
//
// A case is a directory with a go.mod that pins a faulty version of a module, a workload (a
// benchmark in case_test.go, or a main package) and case.json, which says where the fault is and
// what caused it. DIR/causes.json has a regular expression for each case, which a correct
// explanation matches. Cases of kind "clean" have nothing to report.
//
// A case is placed if one of the first three findings is at the culprit or another acceptable
// location (the function, or the file and a line at most two away). It is explained if one of these
// findings also matches the expression and ranks above a hint. A clean case is accused if a finding
// in code ranks above a hint.
//
// On a fixed version, a finding that would explain the case is counted twice. It is the same one if
// it is by the rule that explained the fault, and saves at least a third of what it saved before,
// of the cost per operation (its share, times the measured cost of the fixed version relative to
// the faulty one). Otherwise it states something else that is true there, or what the fix left.
package main
