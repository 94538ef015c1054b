package report

import (
	"path/filepath"
	"strings"
)

// pathTrimmer shortens file names. It cuts a name after the first of elements that it contains, or
// else removes the first of prefixes that it starts with.
type pathTrimmer struct{ elements, prefixes []string }

func newPathTrimmer(trim, search string) *pathTrimmer {
	t := &pathTrimmer{}
	if trim == "" {
		for _, dir := range filepath.SplitList(search) {
			t.elements = append(t.elements, "/"+filepath.Base(filepath.ToSlash(dir))+"/")
		}
	}
	for _, prefix := range filepath.SplitList(trim) {
		t.prefixes = append(t.prefixes, strings.TrimSuffix(filepath.ToSlash(prefix), "/")+"/")
	}
	t.prefixes = append(t.prefixes, "/proc/self/cwd/./", "/proc/self/cwd/")
	return t
}

func (t *pathTrimmer) trim(file string) string {
	slashed := filepath.ToSlash(file)
	for _, element := range t.elements {
		if i := strings.Index(slashed, element); i >= 0 {
			return file[i+len(element):]
		}
	}
	for _, prefix := range t.prefixes {
		if strings.HasPrefix(slashed, prefix) {
			return file[len(prefix):]
		}
	}
	return file
}
