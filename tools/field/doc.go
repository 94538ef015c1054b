// Command field sets what hone says of real bugs of public modules beside what was wrong with them.
//
//	go run ./tools/field -w DIR             # records every case in DIR/cases and writes docs/field.md: 15 minutes
//	go run ./tools/field -only 04,27 DIR
//	go run ./tools/field -fixed DIR         # the same at the versions that fixed them: nothing may be said there
//
// A case is a directory with a go.mod that pins a faulty version of a module, a workload (a benchmark in case_test.go, or
// a main package) and case.json, which says where the fault is and what caused it. DIR/causes.json has a regular
// expression for each case, which the words of a right explanation match. Cases of kind "clean" have nothing to report.
//
// A case is placed when one of the first three findings is at the culprit or another acceptable place (function, or file
// and line within two), explained when one of those also has the right words and ranks above a hint. A clean case counts
// as accused when a finding in code ranks above a hint.
package main
