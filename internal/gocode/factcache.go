package gocode

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

// Facts are kept in one file per package. Its name has the go command's hash of the compilation
// (sources, export data of imports, flags, Go version, platform) and the format below.

const (
	factFormat   = "hone facts 1"
	maxFactBytes = 512 << 20 // of a package's facts, unpacked
	maxFactFiles = 1000      // kept; the oldest go first
)

// factDir is this package's own directory in the cache.
func (x *Index) factDir() string { return filepath.Join(x.cfg.CacheDir, "facts") }

// factFileName is the path of the facts of the compilation with that build ID.
func (x *Index) factFileName(pkg, buildID string) string {
	h := sha256.Sum256([]byte(factFormat + "\n" + pkg + "\n" + buildID))
	return filepath.Join(x.factDir(), hex.EncodeToString(h[:16])+".gob.gz")
}

// loadFacts reads facts from the cache; it returns false when they are missing or damaged.
func (x *Index) loadFacts(pkg, buildID string) (*packageFacts, bool) {
	if x.cfg.CacheDir == "" || buildID == "" {
		return nil, false
	}
	fd, err := os.Open(x.factFileName(pkg, buildID))
	if err != nil {
		return nil, false
	}
	defer fd.Close()
	p, err := decodeFacts(fd)
	return p, err == nil && p.Package == pkg
}

func decodeFacts(r io.Reader) (*packageFacts, error) {
	z, err := gzip.NewReader(bufio.NewReader(r))
	if err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	p := new(packageFacts)
	if err := gob.NewDecoder(io.LimitReader(z, maxFactBytes)).Decode(p); err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	if !p.valid() {
		return nil, fmt.Errorf("read facts: index out of range")
	}
	return p, nil
}

// storeFacts writes facts to the cache. A cache that is not writable costs only time.
func (x *Index) storeFacts(p *packageFacts, buildID string) {
	if x.cfg.CacheDir == "" || buildID == "" {
		return
	}
	if err := writeFacts(x.factFileName(p.Package, buildID), p); err != nil {
		x.note("compiler facts are not kept: " + err.Error())
		return
	}
	pruneFacts(x.factDir(), maxFactFiles)
}

func writeFacts(name string, p *packageFacts) (err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	fd, err := os.CreateTemp(filepath.Dir(name), "new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(fd.Name())
		}
	}()
	z := gzip.NewWriter(fd)
	err = gob.NewEncoder(z).Encode(p)
	for _, close := range []func() error{z.Close, fd.Close} {
		if e := close(); err == nil {
			err = e
		}
	}
	if err == nil {
		err = os.Rename(fd.Name(), name)
	}
	return err
}

// pruneFacts removes the oldest files when there are more than keep, and files that a killed
// process left behind more than a day ago.
func pruneFacts(dir string, keep int) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	type aged struct {
		name string
		time time.Time
	}
	var files []aged
	for _, e := range list {
		info, err := e.Info()
		if err != nil {
			continue
		}
		if strings.HasSuffix(e.Name(), ".gob.gz") {
			files = append(files, aged{e.Name(), info.ModTime()})
		} else if time.Since(info.ModTime()) > 24*time.Hour {
			os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
	if len(files) <= keep {
		return
	}
	sort.Slice(files, func(i, j int) bool { return files[i].time.Before(files[j].time) })
	for i := 0; i < len(files)-keep*3/4; i++ { // some more, so that it is not each time
		os.Remove(filepath.Join(dir, files[i].name))
	}
}
