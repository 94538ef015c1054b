//go:build !linux

package profile

func preferHuge([]int32) {}
