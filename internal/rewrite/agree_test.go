//go:build live

package rewrite

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// driver calls each function of both packages with the same random arguments, including zero
// values, and compares the results.
const driver = `package main

import (
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"testing/quick"

	new "example.com/both/new"
	old "example.com/both/old"
)

func main() {
	rng := rand.New(rand.NewSource(1))
	news := new.Funcs()
	for name, f := range old.Funcs() {
		a, b := reflect.ValueOf(f), reflect.ValueOf(news[name])
		for range 3000 {
			var args, same []reflect.Value
			for i := range a.Type().NumIn() {
				v, ok := quick.Value(a.Type().In(i), rng)
				if !ok {
					panic(name)
				}
				if rng.Intn(8) == 0 {
					v = reflect.Zero(v.Type())
				}
				args, same = append(args, v), append(same, v)
			}
			x, y := call(a, args), call(b, same)
			if !reflect.DeepEqual(x, y) {
				fmt.Printf("%s(%v): %#v, was %#v\n", name, args, y, x)
				os.Exit(1)
			}
		}
	}
}

func call(f reflect.Value, args []reflect.Value) (out []any) {
	for _, v := range f.Call(args) {
		out = append(out, v.Interface())
	}
	return out
}
`

// TestAgree: old and new code do the same on random arguments.
func TestAgree(t *testing.T) {
	files, err := filepath.Glob("testdata/*.golden")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "go.mod"), []byte("module example.com/both\n\ngo 1.26\n"))
			write(t, filepath.Join(dir, "main.go"), []byte(driver))
			for side, from := range map[string]string{"old": strings.TrimSuffix(name, ".golden") + ".go.txt", "new": name} {
				src, err := os.ReadFile(from)
				if err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(dir, side, "code.go"), src)
			}
			cmd := exec.Command("go", "run", ".")
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
