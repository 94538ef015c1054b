// Command peers compares hone with other tools, so that its speed can be measured again on any
// machine:
//
//	go run ./tools/peers profile          # against go tool pprof
//	go run ./tools/peers profile -large   # also with a million stacks
//	go run ./tools/peers profile -data D  # with the profiles in directory D
//	go run ./tools/peers trace            # traces of 5, 50 and 220 MB, against go tool trace
//	go run ./tools/peers ui               # hone ui against pprof -http and go tool trace; Linux
//	go run ./tools/peers compare          # false verdicts of hone compare; -busy: beside busy loops
//	go run ./tools/peers bench -data D    # hone bench and benchstat on unchanged programs
//	go run ./tools/peers bench -data D -collect 10m  # only adds samples
//	go run ./tools/peers pgo              # records cmd/hone/release.pgo
//
// Each area creates its test data in a temporary directory, runs the tools several times,
// alternating, and prints CPU seconds (user + system, the median) and peak memory. Ratios are the
// result. Wall time is not measured, because it says little on a shared machine. No test asserts
// these figures.
package main
