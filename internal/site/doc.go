// Package site joins profiles and code facts into sites, the lines that own a
// program's costs, and prices garbage collection by site.
package site
