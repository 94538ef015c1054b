package load

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ParseTargets parses the argument of -load: a URL, 'METHOD URL', or the name of a targets file in
// vegeta's http format (https://github.com/tsenart/vegeta#http-format):
//
//	# a comment
//	POST http://127.0.0.1:8080/items
//	Content-Type: application/json
//	@item.json
//
//	GET http://127.0.0.1:8080/items/1
//
// A target is a line with a method and a URL (a URL alone is a GET), then its header fields, then
// optionally @ and the name of a file with its body, relative to the targets file. Empty lines and
// comments may separate targets. The fields of header are appended to those of every target. Errors
// in a file name the line and the expected form.
func ParseTargets(arg string, header [][2]string) ([]Target, error) {
	arg = strings.TrimSpace(arg)
	if arg == "" {
		return nil, errors.New("load: name a URL, 'METHOD URL' or a file of targets")
	}
	for _, h := range header {
		if err := checkField(h[0], h[1]); err != nil {
			return nil, fmt.Errorf("load: %w", err)
		}
	}
	if t, ok := ParseTarget(arg); ok {
		t.Header = append(t.Header, header...)
		if _, _, err := t.wire(); err != nil {
			return nil, fmt.Errorf("load: %w", err)
		}
		return []Target{t}, nil
	}
	targets, err := readTargets(arg, header)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	return targets, nil
}

// ParseTarget parses URL or METHOD URL. It returns false if s is neither, and so the name of a
// file.
func ParseTarget(s string) (Target, bool) {
	s = strings.TrimSpace(s)
	method, url, two := strings.Cut(s, " ")
	url = strings.TrimSpace(url)
	switch {
	case two && isMethod(method) && strings.Contains(url, "://"):
		return Target{Method: method, URL: url}, true
	case strings.Contains(s, "://"):
		return Target{Method: "GET", URL: s}, true
	}
	return Target{}, false
}

// isMethod reports whether s looks like a method: letters in upper case.
func isMethod(s string) bool {
	return isToken(s) && strings.ToUpper(s) == s && strings.ToLower(s) != s
}

// maxTargetsFile is the maximum size of a targets file, maxBody that of a body.
const (
	maxTargetsFile = 64 << 20
	maxBody        = 64 << 20
)

// readTargets reads a targets file.
func readTargets(name string, header [][2]string) ([]Target, error) {
	text, err := readBounded(name, maxTargetsFile)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%q is neither a URL (http://…), nor 'METHOD URL', nor a file", name)
		}
		return nil, fmt.Errorf("targets file: %w", err)
	}
	targets, err := parseTargets(string(text), name, filepath.Dir(name), header)
	if err != nil {
		return nil, err
	}
	if len(targets) == 0 {
		return nil, fmt.Errorf("%s: no targets in it; %s", name, targetForm)
	}
	return targets, nil
}

// parseTargets parses the text of a targets file; dir is the directory of body files.
func parseTargets(text, name, dir string, header [][2]string) ([]Target, error) {
	var (
		targets []Target
		started int  // first line of the current target, 0 between targets
		hasBody bool // the target has a body
		bodies  = map[string][]byte{}
	)
	finish := func() error {
		if started == 0 {
			return nil
		}
		t := &targets[len(targets)-1]
		t.Header = append(t.Header, header...)
		if _, _, err := t.wire(); err != nil {
			return fmt.Errorf("%s:%d: %w", name, started, err)
		}
		started, hasBody = 0, false
		return nil
	}
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<20)
	number := 0
	for lines.Scan() {
		number++
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "" || line[0] == '#':
			if line != "" {
				continue
			}
			if err := finish(); err != nil {
				return nil, err
			}
		case line[0] == '@' && started != 0:
			if hasBody {
				return nil, fmt.Errorf("%s:%d: a second body for one target; %s", name, number, targetForm)
			}
			body, err := readBody(dir, strings.TrimSpace(line[1:]), bodies)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: body: %w", name, number, err)
			}
			targets[len(targets)-1].Body, hasBody = body, true
		default:
			t, ok, err := targetOrHeader(line, started != 0 && !hasBody)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, number, err)
			}
			if !ok {
				last := &targets[len(targets)-1]
				last.Header = append(last.Header, t.Header...)
				continue
			}
			if err := finish(); err != nil {
				return nil, err
			}
			targets = append(targets, t)
			started = number
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, number+1, err)
	}
	return targets, finish()
}

// targetForm and fieldForm describe the valid lines of a targets file.
const (
	targetForm = "want METHOD URL, as in GET http://127.0.0.1:8080/path"
	fieldForm  = "want a header (Name: value), @FILE for the body, or the next METHOD URL"
)

// targetOrHeader parses METHOD URL or URL. If mayBeHeader is set, ok is false for a line of the
// form NAME: VALUE.
func targetOrHeader(line string, mayBeHeader bool) (t Target, ok bool, err error) {
	method, url, two := strings.Cut(line, " ")
	if two && isMethod(method) {
		return Target{Method: method, URL: strings.TrimSpace(url)}, true, nil
	}
	if strings.HasPrefix(line, "http://") || strings.HasPrefix(line, "https://") {
		return Target{Method: "GET", URL: line}, true, nil
	}
	if !mayBeHeader {
		return t, false, fmt.Errorf("%.60q is not a target: %s", line, targetForm)
	}
	key, value, colon := strings.Cut(line, ":")
	if !colon {
		return t, false, fmt.Errorf("%.60q is not a header: %s", line, fieldForm)
	}
	value = strings.TrimSpace(value)
	if err := checkField(key, value); err != nil {
		return t, false, fmt.Errorf("%w; %s", err, fieldForm)
	}
	t.Header = [][2]string{{key, value}}
	return t, false, nil
}

// ReadBody reads a file with the body of requests, at most 64 MB.
func ReadBody(name string) ([]byte, error) { return readBounded(name, maxBody) }

// Check returns an error if the target's method, URL or header is invalid.
func (t *Target) Check() error {
	_, _, err := t.wire()
	return err
}

// readBody returns the contents of a body file. It reads each file once.
func readBody(dir, name string, read map[string][]byte) ([]byte, error) {
	if name == "" {
		return nil, errors.New("no file is named after @; want @FILE, relative to the targets file")
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	if b, ok := read[name]; ok {
		return b, nil
	}
	b, err := ReadBody(name)
	if err != nil {
		return nil, err
	}
	read[name] = b
	return b, nil
}
