package ui

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// view is a command that the address of a page can request.
type view struct {
	command []string
	words   int      // number of words before the flags
	params  []string // parameters of the address that become flags
	target  bool     // the parameter fn, a function, comes before the source
	base    bool     // the source base comes before the source
	against bool     // the source base, if given, is subtracted
	flame   bool     // it is the flame graph: one direction, the inverted one on request
	db      bool     // the source is the history's database, named by a flag
	svg     bool     // the page is a picture
}

// shows reports whether sources of a kind have the view. A command for a service would take a
// profile from it, which only a request by POST may do.
func (v view) shows(k Kind) bool {
	if v.db {
		return k == KindHistory
	}
	return k == KindRecording || k == KindProfile || k == KindTrace
}

// profileParams are the parameters that are also flags of the commands for profiles, with pprof's
// names.
func profileParams() []string {
	return []string{"sample_index", "focus", "ignore", "hide", "show", "show_from", "tagfocus", "tagignore", "granularity", "sort", "top", "from", "to",
		"relative_percentages", "noinlines", "nodecount"}
}

func command(params []string, words ...string) view {
	return view{command: words, words: len(words), params: params}
}

// views are the views that return JSON.
func views() map[string]view {
	p := profileParams()
	all := map[string]view{
		"findings": command([]string{"rules"}, "findings"),
		"top":      {command: []string{"top"}, words: 1, params: p, against: true},
		"list":     {command: []string{"list"}, words: 1, params: p, target: true, against: true},
		"disasm":   {command: []string{"disasm"}, words: 1, params: p, target: true},
		"peek":     {command: []string{"peek"}, words: 1, params: p, target: true, against: true},
		"why":      {command: []string{"why"}, words: 1, target: true},
		"compare":  {command: []string{"compare"}, words: 1, params: []string{"force"}, base: true},
		"diff":     {command: []string{"diff"}, words: 1, params: append(p, "by"), base: true},
	}
	for _, name := range []string{"summary", "requests", "blocking", "sched", "gc", "syscalls", "goroutines"} {
		all["trace-"+name] = command([]string{"from", "to"}, "trace", name)
	}
	all["trace-overview"] = command([]string{"from", "to", "columns"}, "trace", "overview")
	all["history"] = view{command: []string{"history", "show"}, words: 2, db: true}
	all["history-runs"] = view{command: []string{"history", "list", "-last=0"}, words: 2, db: true}
	all["trace-critical"] = command([]string{"request"}, "trace", "critical")
	return all
}

// pages are the views that return whole pages for a frame.
func pages() map[string]view {
	p := profileParams()
	return map[string]view{
		"flame":    {command: []string{"flame", "-format=html"}, words: 1, params: p, against: true, flame: true},
		"graph":    {command: []string{"graph", "-format=svg"}, words: 1, params: p, against: true, svg: true},
		"timeline": command([]string{"request", "goroutine", "from", "to"}, "trace", "timeline"),
	}
}

// longest is the maximum length of a parameter's value, in bytes.
const longest = 4096

// args returns the command line for the parameters of an address. A value is either in one word
// with its flag or quoted, so that it cannot be taken for another flag.
func (v view) args(q url.Values, source string, base func() (Source, error)) ([]string, error) {
	args := append([]string(nil), v.command...)
	for _, name := range v.params {
		if value := q.Get(name); value != "" {
			if len(value) > longest {
				return nil, fmt.Errorf("%s is too long", name)
			}
			args = append(args, "-"+name+"="+value)
		}
	}
	if v.flame {
		direction := "callees"
		if q.Get("inverted") != "" {
			direction = "callers"
		}
		args = append(args, "-direction="+direction)
	}
	if v.against && q.Get("base") != "" {
		old, err := base()
		if err != nil {
			return nil, err
		}
		path := old.Path
		if part := q.Get("part"); old.Kind == KindRecording && partName.MatchString(part) {
			path += ":" + part
		}
		args = append(args, "-diff_base="+path, "-per_request")
	}
	if v.db {
		return append(args, "-db="+source), nil
	}
	if part := q.Get("part"); part != "" {
		if !partName.MatchString(part) {
			return nil, fmt.Errorf("no part %q", part)
		}
		source += ":" + part
	}
	if v.target {
		fn := q.Get("fn")
		if fn == "" || len(fn) > longest {
			return nil, errors.New("the parameter fn must name a function")
		}
		if v.command[0] == "why" {
			args = append(args, strings.TrimLeft(fn, "-"))
		} else {
			args = append(args, "^"+regexp.QuoteMeta(fn)+"$")
		}
	}
	if v.base {
		old, err := base()
		if err != nil {
			return nil, err
		}
		args = append(args, old.Path)
	}
	return append(args, source), nil
}

var partName = regexp.MustCompile(`^[a-z]+(:[a-z]+)?$`)

// scripts returns the texts of the scripts in a page. A regular expression would take longer than
// the layout of a small flame graph.
func scripts(page []byte) (texts [][]byte) {
	const open, end = "<script", "</script>"
	for {
		at := bytes.Index(page, []byte(open))
		if at < 0 {
			return texts
		}
		page = page[at+len(open):]
		head, body, ok := bytes.Cut(page, []byte(">"))
		if !ok {
			return texts
		}
		if len(head) > 0 && !bytes.ContainsRune([]byte(" \t\n\f\r"), rune(head[0])) { // another element
			continue
		}
		text, rest, ok := bytes.Cut(body, []byte(end))
		if !ok {
			return texts
		}
		texts, page = append(texts, text), rest
	}
}

// framed returns the policy for a page that contains its scripts: it can run only those, and cannot
// load anything.
func framed(page []byte, svg bool) string {
	var hashes []string
	for _, text := range scripts(page) {
		if svg { // the browser hashes the script as the XML parser returns it
			text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("<![CDATA["), nil), []byte("]]>"), nil)
		}
		sum := sha256.Sum256(text)
		hashes = append(hashes, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	if len(hashes) == 0 {
		hashes = []string{"'none'"}
	}
	return "default-src 'none'; script-src " + strings.Join(hashes, " ") + "; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts"
}
