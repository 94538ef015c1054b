package incompressibledata

import (
	"go/token"
	"go/types"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestSets finds responses whose content type says that they are compressed already.
func TestSets(t *testing.T) {
	for set, want := range map[string]string{
		`w.Header().Set("Content-Type", "image/png")`:     "main.go:8 sends image/png",
		`w.Header().Set("content-type", kind)`:            "main.go:8 sends video/mp4",
		`w.Header().Set("Content-Type", "image/svg+xml")`: "",
		`w.Header().Set("Accept", "image/png")`:           "",
	} {
		places := ruletest.Places(t, `package main

import "net/http"

const kind = "video/mp4"

func serve(w http.ResponseWriter) {
	`+set+` //@ here
}

func main() {}
`)
		if got := sets(places["here"]); got != want {
			t.Errorf("%s: %q, want %q", set, got, want)
		}
	}
}

// TestCompresses: the name and the package decide which calls wrap handlers in a compressing one.
func TestCompresses(t *testing.T) {
	const pkg = "example.com/middleware"
	for _, test := range []struct {
		pkg, name string
		want      bool
	}{
		{pkg, "Compress", true}, {pkg, "GzipHandler", true}, {pkg, "NewCompressor", true},
		{pkg, "Logger", false}, {pkg, "compress", false}, {"example.com/other", "Compress", false},
	} {
		fn := types.NewFunc(token.NoPos, types.NewPackage(test.pkg, "p"), test.name, types.NewSignatureType(nil, nil, nil, nil, nil, false))
		if got := compresses(fn, pkg); got != test.want {
			t.Errorf("%s.%s: %t", test.pkg, test.name, got)
		}
	}
}
