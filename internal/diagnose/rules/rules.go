// Package rules lists the diagnosis rules. Each has a folder of its own; adding
// one is that folder and a line here.
//
// A rule's folder, named by its ID, holds rule.go (what it is, its prose with a
// case from the field, how it finds) and two programs that end by themselves after about a
// second of CPU: testdata/caught.txtar, each guilty line marked "// want ID", and
// testdata/nearmiss.txtar, which looks guilty and is not. This package's test runs them all: a rule must
// find the marked lines and no others, and no rule may accuse a near miss. What more is to be proved of
// one rule (its words, figures that a test makes up) stands in a rule_test.go beside it.
//
// A rule knows the language, the standard library and public modules; it never knows a program.
package rules

import (
	"github.com/hone-go/hone/internal/diagnose/rule"
	atomichotspot "github.com/hone-go/hone/internal/diagnose/rules/atomic-hotspot"
	binaryreflect "github.com/hone-go/hone/internal/diagnose/rules/binary-reflect"
	bodynotdrained "github.com/hone-go/hone/internal/diagnose/rules/body-not-drained"
	bufferthroughinterface "github.com/hone-go/hone/internal/diagnose/rules/buffer-through-interface"
	busyspin "github.com/hone-go/hone/internal/diagnose/rules/busy-spin"
	callerinlog "github.com/hone-go/hone/internal/diagnose/rules/caller-in-log"
	channelhandoff "github.com/hone-go/hone/internal/diagnose/rules/channel-handoff"
	clientperrequest "github.com/hone-go/hone/internal/diagnose/rules/client-per-request"
	closurebyref "github.com/hone-go/hone/internal/diagnose/rules/closure-by-ref"
	compresslevel "github.com/hone-go/hone/internal/diagnose/rules/compress-level"
	concatloop "github.com/hone-go/hone/internal/diagnose/rules/concat-loop"
	consterror "github.com/hone-go/hone/internal/diagnose/rules/const-error"
	constantwork "github.com/hone-go/hone/internal/diagnose/rules/constant-work"
	contextchain "github.com/hone-go/hone/internal/diagnose/rules/context-chain"
	costlyline "github.com/hone-go/hone/internal/diagnose/rules/costly-line"
	ctorpercall "github.com/hone-go/hone/internal/diagnose/rules/ctor-per-call"
	debugbuild "github.com/hone-go/hone/internal/diagnose/rules/debug-build"
	debugloggingon "github.com/hone-go/hone/internal/diagnose/rules/debug-logging-on"
	deepequaltyped "github.com/hone-go/hone/internal/diagnose/rules/deepequal-typed"
	deferinloop "github.com/hone-go/hone/internal/diagnose/rules/defer-in-loop"
	falsesharing "github.com/hone-go/hone/internal/diagnose/rules/false-sharing"
	finalizerperobject "github.com/hone-go/hone/internal/diagnose/rules/finalizer-per-object"
	flushpermessage "github.com/hone-go/hone/internal/diagnose/rules/flush-per-message"
	fmtthenbytes "github.com/hone-go/hone/internal/diagnose/rules/fmt-then-bytes"
	foldcompare "github.com/hone-go/hone/internal/diagnose/rules/fold-compare"
	forcedgc "github.com/hone-go/hone/internal/diagnose/rules/forced-gc"
	formatthenappend "github.com/hone-go/hone/internal/diagnose/rules/format-then-append"
	gcassistlatency "github.com/hone-go/hone/internal/diagnose/rules/gc-assist-latency"
	gcsparememory "github.com/hone-go/hone/internal/diagnose/rules/gc-cpu-spare-memory"
	goroutineleak "github.com/hone-go/hone/internal/diagnose/rules/goroutine-leak"
	headerkeyform "github.com/hone-go/hone/internal/diagnose/rules/header-key-form"
	heavyctorpercall "github.com/hone-go/hone/internal/diagnose/rules/heavy-ctor-per-call"
	hotmutex "github.com/hone-go/hone/internal/diagnose/rules/hot-mutex"
	jsontoany "github.com/hone-go/hone/internal/diagnose/rules/json-to-any"
	kdfperrequest "github.com/hone-go/hone/internal/diagnose/rules/kdf-per-request"
	keepaliveoff "github.com/hone-go/hone/internal/diagnose/rules/keepalive-off"
	largecopy "github.com/hone-go/hone/internal/diagnose/rules/large-copy"
	leakgrowth "github.com/hone-go/hone/internal/diagnose/rules/leak-growth"
	limitthrash "github.com/hone-go/hone/internal/diagnose/rules/limit-thrash"
	linearscan "github.com/hone-go/hone/internal/diagnose/rules/linear-scan"
	literalpercall "github.com/hone-go/hone/internal/diagnose/rules/literal-per-call"
	lockconvoy "github.com/hone-go/hone/internal/diagnose/rules/lock-convoy"
	logargsboxed "github.com/hone-go/hone/internal/diagnose/rules/log-args-boxed"
	logunderlock "github.com/hone-go/hone/internal/diagnose/rules/log-under-lock"
	loopinvariantcall "github.com/hone-go/hone/internal/diagnose/rules/loop-invariant-call"
	mapgrowth "github.com/hone-go/hone/internal/diagnose/rules/map-growth"
	metriclabelpercall "github.com/hone-go/hone/internal/diagnose/rules/metric-label-per-call"
	nopgo "github.com/hone-go/hone/internal/diagnose/rules/no-pgo"
	oldgo "github.com/hone-go/hone/internal/diagnose/rules/old-go"
	pointerdenselive "github.com/hone-go/hone/internal/diagnose/rules/pointer-dense-live"
	pointerperelement "github.com/hone-go/hone/internal/diagnose/rules/pointer-per-element"
	poolmiss "github.com/hone-go/hone/internal/diagnose/rules/pool-miss"
	poolnonpointer "github.com/hone-go/hone/internal/diagnose/rules/pool-non-pointer"
	poolwait "github.com/hone-go/hone/internal/diagnose/rules/pool-wait"
	procsoverquota "github.com/hone-go/hone/internal/diagnose/rules/procs-over-quota"
	quadraticinsert "github.com/hone-go/hone/internal/diagnose/rules/quadratic-insert"
	queryreparsed "github.com/hone-go/hone/internal/diagnose/rules/query-reparsed"
	randsourcepercall "github.com/hone-go/hone/internal/diagnose/rules/rand-source-per-call"
	readallknownsize "github.com/hone-go/hone/internal/diagnose/rules/readall-known-size"
	reflectsort "github.com/hone-go/hone/internal/diagnose/rules/reflect-sort"
	regexpcompilepercall "github.com/hone-go/hone/internal/diagnose/rules/regexp-compile-per-call"
	regexpsimple "github.com/hone-go/hone/internal/diagnose/rules/regexp-simple"
	replacerpercall "github.com/hone-go/hone/internal/diagnose/rules/replacer-per-call"
	retainedsubstring "github.com/hone-go/hone/internal/diagnose/rules/retained-substring"
	runeslicerange "github.com/hone-go/hone/internal/diagnose/rules/rune-slice-range"
	rwmutexreaders "github.com/hone-go/hone/internal/diagnose/rules/rwmutex-readers"
	schedlatency "github.com/hone-go/hone/internal/diagnose/rules/sched-latency"
	semaphorewait "github.com/hone-go/hone/internal/diagnose/rules/semaphore-wait"
	serialsection "github.com/hone-go/hone/internal/diagnose/rules/serial-section"
	sleeppolling "github.com/hone-go/hone/internal/diagnose/rules/sleep-polling"
	slicegrowth "github.com/hone-go/hone/internal/diagnose/rules/slice-growth"
	smallreads "github.com/hone-go/hone/internal/diagnose/rules/small-reads"
	smallwrites "github.com/hone-go/hone/internal/diagnose/rules/small-writes"
	sprintfsimple "github.com/hone-go/hone/internal/diagnose/rules/sprintf-simple"
	sqlopenpercall "github.com/hone-go/hone/internal/diagnose/rules/sql-open-per-call"
	sqlprepareperquery "github.com/hone-go/hone/internal/diagnose/rules/sql-prepare-per-query"
	sscansimple "github.com/hone-go/hone/internal/diagnose/rules/sscan-simple"
	stackgrowth "github.com/hone-go/hone/internal/diagnose/rules/stack-growth"
	stackinerrors "github.com/hone-go/hone/internal/diagnose/rules/stack-in-errors"
	stackscan "github.com/hone-go/hone/internal/diagnose/rules/stack-scan"
	stringbytescopy "github.com/hone-go/hone/internal/diagnose/rules/string-bytes-copy"
	templateparsepercall "github.com/hone-go/hone/internal/diagnose/rules/template-parse-per-call"
	timeformatnow "github.com/hone-go/hone/internal/diagnose/rules/time-format-now"
	timerinloop "github.com/hone-go/hone/internal/diagnose/rules/timer-in-loop"
	tinyheap "github.com/hone-go/hone/internal/diagnose/rules/tiny-heap"
	toolargeforstack "github.com/hone-go/hone/internal/diagnose/rules/too-large-for-stack"
	unbufferedlog "github.com/hone-go/hone/internal/diagnose/rules/unbuffered-log"
	variablesizemake "github.com/hone-go/hone/internal/diagnose/rules/variable-size-make"
	workunittoosmall "github.com/hone-go/hone/internal/diagnose/rules/work-unit-too-small"
)

// All returns every rule, in the order in which they are run. The order decides
// only between claims that are equal in everything else.
func All() []rule.Rule {
	return []rule.Rule{
		atomichotspot.Rule(),
		binaryreflect.Rule(),
		bodynotdrained.Rule(),
		bufferthroughinterface.Rule(),
		busyspin.Rule(),
		callerinlog.Rule(),
		channelhandoff.Rule(),
		clientperrequest.Rule(),
		closurebyref.Rule(),
		compresslevel.Rule(),
		concatloop.Rule(),
		consterror.Rule(),
		constantwork.Rule(),
		contextchain.Rule(),
		costlyline.Rule(),
		ctorpercall.Rule(),
		debugbuild.Rule(),
		debugloggingon.Rule(),
		deepequaltyped.Rule(),
		deferinloop.Rule(),
		falsesharing.Rule(),
		finalizerperobject.Rule(),
		flushpermessage.Rule(),
		fmtthenbytes.Rule(),
		foldcompare.Rule(),
		forcedgc.Rule(),
		formatthenappend.Rule(),
		gcassistlatency.Rule(),
		gcsparememory.Rule(),
		goroutineleak.Rule(),
		headerkeyform.Rule(),
		heavyctorpercall.Rule(),
		hotmutex.Rule(),
		jsontoany.Rule(),
		kdfperrequest.Rule(),
		keepaliveoff.Rule(),
		largecopy.Rule(),
		leakgrowth.Rule(),
		limitthrash.Rule(),
		linearscan.Rule(),
		literalpercall.Rule(),
		lockconvoy.Rule(),
		logargsboxed.Rule(),
		logunderlock.Rule(),
		loopinvariantcall.Rule(),
		mapgrowth.Rule(),
		metriclabelpercall.Rule(),
		nopgo.Rule(),
		oldgo.Rule(),
		pointerdenselive.Rule(),
		pointerperelement.Rule(),
		poolmiss.Rule(),
		poolnonpointer.Rule(),
		poolwait.Rule(),
		procsoverquota.Rule(),
		quadraticinsert.Rule(),
		queryreparsed.Rule(),
		randsourcepercall.Rule(),
		readallknownsize.Rule(),
		reflectsort.Rule(),
		regexpcompilepercall.Rule(),
		regexpsimple.Rule(),
		replacerpercall.Rule(),
		retainedsubstring.Rule(),
		runeslicerange.Rule(),
		rwmutexreaders.Rule(),
		schedlatency.Rule(),
		semaphorewait.Rule(),
		serialsection.Rule(),
		sleeppolling.Rule(),
		slicegrowth.Rule(),
		smallreads.Rule(),
		smallwrites.Rule(),
		sprintfsimple.Rule(),
		sqlopenpercall.Rule(),
		sqlprepareperquery.Rule(),
		sscansimple.Rule(),
		stackgrowth.Rule(),
		stackinerrors.Rule(),
		stackscan.Rule(),
		stringbytescopy.Rule(),
		templateparsepercall.Rule(),
		timeformatnow.Rule(),
		timerinloop.Rule(),
		tinyheap.Rule(),
		toolargeforstack.Rule(),
		unbufferedlog.Rule(),
		variablesizemake.Rule(),
		workunittoosmall.Rule(),
	}
}
