package main

import (
	"image"
	"image/color"
)

// The part of the plane that is drawn: the whole set with a margin.
const (
	left, top = -2.1, -1.3
	side      = 2.6
)

// depth is how often a point is iterated before it counts as inside.
const depth = 600

// picture is an image that is painted point by point. Different points may be
// painted at the same time.
type picture struct {
	image *image.NRGBA
	size  int
}

func newPicture(size int) *picture {
	return &picture{image: image.NewNRGBA(image.Rect(0, 0, size, size)), size: size}
}

// paint computes and sets one point.
func (p *picture) paint(x, y int) {
	step := side / float64(p.size)
	c := complex(left+float64(x)*step, top+float64(y)*step)
	p.image.SetNRGBA(x, y, shade(escape(c)))
}

// paintRow computes and sets all points of a row.
func (p *picture) paintRow(y int) {
	for x := range p.size {
		p.paint(x, y)
	}
}

// escape counts the steps until z = z² + c leaves the circle of radius 2, at
// most depth: such a point belongs to the set.
func escape(c complex128) int {
	z := c
	for n := range depth {
		if real(z)*real(z)+imag(z)*imag(z) > 4 {
			return n
		}
		z = z*z + c
	}
	return depth
}

// shade colours a point by its count; the set itself is black.
func shade(n int) color.NRGBA {
	if n == depth {
		return color.NRGBA{A: 255}
	}
	return color.NRGBA{R: uint8(n * 3), G: uint8(n * 5), B: uint8(64 + n*7), A: 255}
}
