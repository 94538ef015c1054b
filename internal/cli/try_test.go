package cli

import (
	"reflect"
	"testing"

	"github.com/hone-go/hone/internal/experiment"
)

func TestVariants(t *testing.T) {
	for words, want := range map[string]experiment.Variant{
		"GOGC=400":                 {Env: []string{"GOGC=400"}},
		"GOGC=off GOMEMLIMIT=1GiB": {Env: []string{"GOGC=off", "GOMEMLIMIT=1GiB"}},
		"git:HEAD~1 GODEBUG=a=1":   {Ref: "HEAD~1", Env: []string{"GODEBUG=a=1"}},
		"pgo:cpu.pprof":            {PGO: "cpu.pprof"},
		"pgo:before.hone GOGC=200": {PGO: "before.hone", Env: []string{"GOGC=200"}},
		"build:-tags=fast":         {BuildFlags: []string{"-tags=fast"}},
		"'X=two words'":            {Env: []string{"X=two words"}},
	} {
		got, err := variantOf(Env{Dir: t.TempDir()}, words)
		want.Name = words
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", words, got, err)
		}
	}
	for _, words := range []string{"", "GOGC", "=x", "git:", "pgo:", "build:tags", "-x=1", "what:x"} {
		if v, err := variantOf(Env{Dir: t.TempDir()}, words); err == nil {
			t.Errorf("%q: %+v", words, v)
		}
	}
}
