//go:build !linux

package profile

func preferHuge[T any]([]T) {}
