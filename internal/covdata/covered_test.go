//go:build !live

package covdata_test

// covered are the packages whose blocks are counted.
const covered = "./..."
