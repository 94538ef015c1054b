package gocode

import (
	"slices"
	"testing"
)

func TestHarmlessFlags(t *testing.T) {
	kept, refused := HarmlessFlags([]string{
		"-race", "-tags", "a,b", "-trimpath=true", "-gcflags=all=-N -l", "-gcflags", "-m=2 -d=checkptr=0", "-ldflags=-s -w -X main.v=1 -X=main.w=2", "-mod=vendor",
		"-toolexec", "sh -c 'touch x'", "--toolexec=sh", "-gcflags=-cpuprofile=/x", "-gcflags=all=-N -o=/x", "-gcflags=-d=ssa/opt/dump=F", "-ldflags=-extld=/x", "-ldflags=-s -extldflags=-x",
		"-exec=sh", "-o=/x", "-C=/x", "-pkgdir=/x", "-compiler=gccgo", "-asmflags=-o=/x", "-vettool=x", "-work", "x.go",
	})
	want := []string{"-race", "-tags=a,b", "-trimpath=true", "-gcflags=all=-N -l", "-gcflags=-m=2 -d=checkptr=0", "-ldflags=-s -w -X main.v=1 -X=main.w=2", "-mod=vendor"}
	if !slices.Equal(kept, want) {
		t.Errorf("kept %q, want %q", kept, want)
	}
	for _, name := range []string{"-toolexec", "-gcflags", "-ldflags", "-exec", "-o", "-C", "-pkgdir", "-compiler", "-asmflags", "-vettool", "-work"} {
		if !slices.Contains(refused, name) {
			t.Errorf("%s is not refused: %q", name, refused)
		}
	}
	if len(refused) != 15 {
		t.Errorf("refused %q", refused)
	}
}
