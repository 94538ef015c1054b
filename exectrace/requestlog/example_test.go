package requestlog_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime/trace"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requestlog"
)

// The connections of a server log what they read and write into its trace.
func Example() {
	var data bytes.Buffer
	if err := trace.Start(&data); err != nil {
		log.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.Listener = requestlog.Listener{Listener: srv.Listener}
	srv.Start()
	for range 3 {
		res, err := http.Get(srv.URL)
		if err != nil {
			log.Fatal(err)
		}
		res.Body.Close()
	}
	srv.Close()
	trace.Stop()
	fold := requestlog.New()
	if _, err := exectrace.Read(context.Background(), &data, exectrace.Options{}, fold); err != nil {
		log.Fatal(err)
	}
	fmt.Println(fold.Served().Count(), "requests")
	// Output:
	// 3 requests
}
