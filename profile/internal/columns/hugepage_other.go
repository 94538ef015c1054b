//go:build !linux

package columns

func preferHuge[T any]([]T) {}
