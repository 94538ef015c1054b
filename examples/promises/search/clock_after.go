//go:build fix_clock

package main

import (
	"sync/atomic"
	"time"
)

type stamp struct {
	second int64
	text   string
}

var latest atomic.Pointer[stamp]

// checked is when a product was last seen in stock: now.
func checked() string {
	now := time.Now()
	if s := latest.Load(); s != nil && s.second == now.Unix() {
		return s.text
	}
	s := &stamp{now.Unix(), now.UTC().Format("2006-01-02 15:04:05")}
	latest.Store(s)
	return s.text
}
