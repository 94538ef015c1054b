package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// fileLimit is the number of files that a process may open.
type fileLimit struct {
	n    uint64
	none bool // the system has no limit, or none that is known
}

func judgeFiles(l fileLimit) Check {
	const name, few = "open files", 1024
	if l.none {
		return ok(name, "no limit known")
	}
	detail := fmt.Sprintf("at most %d in one process", l.n)
	if l.n <= few {
		return warn(name, detail+": each connection takes one, in hone and in the program", "raise it: ulimit -n 65536")
	}
	return ok(name, detail)
}

// cache is what is known about hone's own directory.
type cache struct {
	made      bool  // the directory exists; otherwise its nearest ancestor was tested
	files     int   // number of files in it
	bytes     int64 // their total size
	cut       bool  // there are more files than were counted
	free      uint64
	freeKnown bool
	err       error // why it cannot be written
}

const maxCounted = 100_000 // files

func readCache(ctx context.Context, dir string) (c cache) {
	if dir == "" {
		return c
	}
	place, err := nearest(dir)
	if err != nil {
		return cache{err: err}
	}
	c.made = place == filepath.Clean(dir)
	c.free, c.freeKnown = freeBytes(place)
	if c.err = tryWrite(place); c.err != nil || !c.made {
		return c
	}
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if c.files >= maxCounted || ctx.Err() != nil {
			c.cut = true
			return fs.SkipAll
		}
		if err != nil || !d.Type().IsRegular() {
			return nil // unreadable entries are not counted; the directory itself can be written
		}
		if info, err := d.Info(); err == nil {
			c.files++
			c.bytes += info.Size()
		}
		return nil
	})
	return c
}

// nearest returns dir, or the closest directory above it that exists.
func nearest(dir string) (string, error) {
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return "", fmt.Errorf("%s is not a directory", dir)
		case err == nil:
			return dir, nil
		case !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir):
			return "", err
		}
	}
}

// tryWrite writes a small file to dir and removes it.
func tryWrite(dir string) error {
	f, err := os.CreateTemp(dir, ".hone-doctor-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString("hone doctor\n")
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

func judgeCache(dir string, c cache) Check {
	const name = "cache"
	const large, little = 5 << 30, 1 << 30 // bytes
	if dir == "" {
		return fail(name, "there is no directory for builds and recordings", "set HONE_CACHE to a directory that hone may write")
	}
	if c.err != nil {
		return fail(name, fmt.Sprintf("%v: hone cannot store builds and recordings", c.err),
			"make the directory writable, or free space on its disk")
	}
	detail := dir + " does not exist yet and can be created"
	if c.made {
		more := ""
		if c.cut {
			more = "more than "
		}
		detail = fmt.Sprintf("%s is writable, %s%d files, %.1f MiB", dir, more, c.files, float64(c.bytes)/(1<<20))
	}
	if c.freeKnown {
		detail += fmt.Sprintf(", %.1f GiB free", float64(c.free)/(1<<30))
	}
	switch {
	case c.freeKnown && c.free < little:
		return warn(name, detail+": a recording takes up to about 100 MiB", "free space on its disk")
	case c.bytes > large:
		return warn(name, detail, "delete recordings that are no longer needed: "+filepath.Join(dir, "recordings"))
	}
	return ok(name, detail)
}
