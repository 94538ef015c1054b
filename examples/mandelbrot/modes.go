package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// painter fills a picture.
type painter func(*picture)

// mode is one way to share the work. Those that take no workers ignore the number.
type mode struct {
	name  string
	paint func(p *picture, workers int)
}

func allModes() []mode {
	return []mode{
		{"seq", func(p *picture, _ int) { paintSequentially(p) }},
		{"px", func(p *picture, _ int) { paintPixelsApart(p) }},
		{"row", func(p *picture, _ int) { paintRowsApart(p) }},
		{"workers", func(p *picture, n int) { paintByPixelWorkers(p, n, 0) }},
		{"workers-buffered", func(p *picture, n int) { paintByPixelWorkers(p, n, p.size*p.size) }},
		{"workers-rows", paintByRowWorkers},
	}
}

func modes() []string {
	var names []string
	for _, m := range allModes() {
		names = append(names, m.name)
	}
	return names
}

// painterOf looks up a mode.
func painterOf(name string, workers int) (painter, error) {
	all := allModes()
	i := slices.IndexFunc(all, func(m mode) bool { return m.name == name })
	if i < 0 {
		return nil, fmt.Errorf("no mode %q; there are %s", name, strings.Join(modes(), ", "))
	}
	if workers < 1 {
		return nil, fmt.Errorf("%d workers: want at least 1", workers)
	}
	return func(p *picture) { all[i].paint(p, workers) }, nil
}

// paintSequentially is one loop.
func paintSequentially(p *picture) {
	for y := range p.size {
		p.paintRow(y)
	}
}

// paintPixelsApart starts a goroutine for each pixel.
func paintPixelsApart(p *picture) {
	var wg sync.WaitGroup
	for y := range p.size {
		for x := range p.size {
			wg.Add(1)
			go func() {
				defer wg.Done()
				p.paint(x, y)
			}()
		}
	}
	wg.Wait()
}

// paintRowsApart starts a goroutine for each row.
func paintRowsApart(p *picture) {
	var wg sync.WaitGroup
	for y := range p.size {
		wg.Add(1)
		go func() {
			defer wg.Done()
			p.paintRow(y)
		}()
	}
	wg.Wait()
}

// paintByPixelWorkers hands single pixels to a pool of workers through a
// channel with the given buffer.
func paintByPixelWorkers(p *picture, workers, buffer int) {
	type pixel struct{ x, y int }
	pixels := make(chan pixel, buffer)
	var wg sync.WaitGroup
	for range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for px := range pixels {
				p.paint(px.x, px.y)
			}
		}()
	}
	for y := range p.size {
		for x := range p.size {
			pixels <- pixel{x, y}
		}
	}
	close(pixels)
	wg.Wait()
}

// paintByRowWorkers hands rows to a pool of workers through a channel that
// holds them all.
func paintByRowWorkers(p *picture, workers int) {
	rows := make(chan int, p.size)
	var wg sync.WaitGroup
	for range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for y := range rows {
				p.paintRow(y)
			}
		}()
	}
	for y := range p.size {
		rows <- y
	}
	close(rows)
	wg.Wait()
}
