// Command peers measures hone against the tools that people use now, so that
// the speed that hone claims can be seen again on any machine:
//
//	go run ./tools/peers profile          # against go tool pprof
//	go run ./tools/peers profile -large   # with a million stacks too
//	go run ./tools/peers profile -data D  # with the profiles in folder D
//	go run ./tools/peers trace            # traces of 5, 50 and 220 MB, against go tool trace
//	go run ./tools/peers ui               # hone ui against go tool pprof -http and go tool trace; Linux
//	go run ./tools/peers compare          # false verdicts of hone compare; with -busy beside busy loops
//	go run ./tools/peers bench -data D    # hone bench and benchstat on unchanged programs; -collect adds samples
//	go run ./tools/peers pgo              # makes cmd/hone/release.pgo
//
// Each area makes its own test data in a temporary folder, runs the rivals
// several times in turn and prints CPU seconds (user + system, the median) and
// peak memory. Ratios are the result; wall time is not measured, since it says
// little on a shared machine. Nothing here is asserted by a test.
package main
