package source

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/profile"
)

// splitTrace splits "trace.out:blocking": view is the view of an execution trace of which a profile
// is wanted, "" if none is named.
func splitTrace(arg string) (file, view string) {
	i := strings.LastIndexByte(arg, ':')
	if i <= 0 || !slices.Contains(analysis.Profiles(), arg[i+1:]) {
		return arg, ""
	}
	if _, err := os.Stat(arg); err == nil {
		return arg, ""
	}
	return arg[:i], arg[i+1:]
}

// noFile returns the error for a file that cannot be opened because of err: it says so if only the
// view is wrong.
func noFile(arg string, err error) error {
	if i := strings.LastIndexByte(arg, ':'); i > 0 {
		if _, e := os.Stat(arg[:i]); e == nil {
			return fmt.Errorf("no view %q of %s; the views of an execution trace are %s", arg[i+1:], arg[:i], strings.Join(analysis.Profiles(), ", "))
		}
	}
	return err
}

// isTrace reports whether a file that starts with head is an execution trace, compressed or not.
func isTrace(head []byte) bool {
	magic := []byte("go 1.")
	if bytes.HasPrefix(head, magic) {
		return true
	}
	r, err := profile.Inflate(bytes.NewReader(head), 0)
	if err != nil {
		return false
	}
	defer r.Close()
	got := make([]byte, len(magic))
	_, err = io.ReadFull(r, got)
	return err == nil && bytes.Equal(got, magic)
}

// partTraceView returns the view that a part of a recording names: "trace:blocking", or just
// "trace".
func partTraceView(part string) (view string, ok bool) {
	name, view, _ := strings.Cut(part, ":")
	return view, name == "trace" || name == recording.PartTrace
}

// traceProfile reads a trace as the profile of a view; "" is the view of all time. arg is the
// argument with which Index can open it again, "" if it cannot.
func (o Opener) traceProfile(ctx context.Context, r io.Reader, arg, view string) (*profile.Profile, []string, error) {
	var notes []string
	if views := analysis.Profiles(); view == "" {
		view = views[0]
		notes = append(notes, fmt.Sprintf("this is the time of all goroutines of an execution trace; its other views are NAME:%s", strings.Join(views[1:], ", :")))
	} else if !slices.Contains(views, view) {
		return nil, nil, fmt.Errorf("no view %q of an execution trace; the views are %s", view, strings.Join(views, ", "))
	}
	if part := o.From != 0 || o.To != 0; arg != "" && (part || o.Traces != nil) {
		if part && len(notes) > 0 {
			view, notes = "blocking", []string{"these are the waits of goroutines in the interval; its other views are NAME:cpu, :sched and :syscalls"}
		}
		p, more, err := o.indexedProfile(ctx, arg, view)
		return p, append(notes, more...), err
	}
	o.Say("trace", "reading the execution trace")
	set, cut, err := analysis.Read(ctx, r, requests.Options{Paths: view == "critical"})
	if err != nil {
		return nil, nil, err
	}
	if cut != nil {
		notes = append(notes, cut.Note())
	}
	p, err := set.Profile(view)
	return p, notes, err
}
