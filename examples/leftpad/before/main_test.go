package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// This file is the same in ../before and ../after.

// The service stops on request, without an error.
func TestServeEnds(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, listener) }()

	client := &http.Client{Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	resp, err := client.Get("http://" + listener.Addr().String() + "/v1/leftpad/?str=a&len=3&chr=-")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if got, want := string(body), `{"str":"--a"}`+"\n"; got != want || err != nil {
		t.Errorf("answer %q, %v, want %q", got, err, want)
	}

	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("still serving 10 s after the stop")
	}
}

// An error of the listener stops the service with that error.
func TestServeFails(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	if err := serve(context.Background(), listener); err == nil {
		t.Error("no error from a closed listener")
	}
}
