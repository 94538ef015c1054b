//go:build live

package live

// On reports whether the build tag live is set.
const On = true
