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
)

// Facts are kept one file a package, named by what the go command hashes of the compilation (sources,
// export data of imports, flags, Go version, platform) and by the format below.

const (
	factFormat   = "hone facts 1"
	maxFactBytes = 512 << 20 // of a package's facts, unpacked
	maxFactFiles = 1000      // kept; the oldest go first
)

// factFileName is the path of the facts of the compilation with that build ID.
func (x *Index) factFileName(pkg, buildID string) string {
	h := sha256.Sum256([]byte(factFormat + "\n" + pkg + "\n" + buildID))
	return filepath.Join(x.cfg.CacheDir, "facts", hex.EncodeToString(h[:16])+".gob.gz")
}

// loadFacts reads facts from the cache; false when they are not there or not whole.
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

// storeFacts writes facts to the cache. A cache that cannot be written costs only time.
func (x *Index) storeFacts(p *packageFacts, buildID string) {
	if x.cfg.CacheDir == "" || buildID == "" {
		return
	}
	if err := writeFacts(x.factFileName(p.Package, buildID), p); err != nil {
		x.note("compiler facts are not kept: " + err.Error())
		return
	}
	pruneFacts(filepath.Join(x.cfg.CacheDir, "facts"))
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

// pruneFacts removes the oldest files when there are too many.
func pruneFacts(dir string) {
	list, err := os.ReadDir(dir)
	if err != nil || len(list) <= maxFactFiles {
		return
	}
	type aged struct {
		name string
		time int64
	}
	var files []aged
	for _, e := range list {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ".gob.gz") {
			files = append(files, aged{e.Name(), info.ModTime().UnixNano()})
		}
	}
	sort.Slice(files, func(i, j int) bool { return files[i].time < files[j].time })
	for i := 0; i < len(files)-maxFactFiles*3/4; i++ {
		os.Remove(filepath.Join(dir, files[i].name))
	}
}
