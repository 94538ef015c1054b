// Package rules lists the diagnosis rules. Each has a folder of its own; adding
// one is that folder and a line here.
package rules

import (
	"github.com/hone-go/hone/internal/diagnose/rule"
	concatloop "github.com/hone-go/hone/internal/diagnose/rules/concat-loop"
	formatthenappend "github.com/hone-go/hone/internal/diagnose/rules/format-then-append"
	gcsparememory "github.com/hone-go/hone/internal/diagnose/rules/gc-cpu-spare-memory"
	replacerpercall "github.com/hone-go/hone/internal/diagnose/rules/replacer-per-call"
	sprintfsimple "github.com/hone-go/hone/internal/diagnose/rules/sprintf-simple"
	unbufferedlog "github.com/hone-go/hone/internal/diagnose/rules/unbuffered-log"
)

// All returns every rule, in the order in which they are run. The order decides
// only between claims that are equal in everything else.
func All() []rule.Rule {
	return []rule.Rule{
		concatloop.Rule(),
		formatthenappend.Rule(),
		gcsparememory.Rule(),
		replacerpercall.Rule(),
		sprintfsimple.Rule(),
		unbufferedlog.Rule(),
	}
}
