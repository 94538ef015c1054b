// Package upgrades puts into words what newer releases of modules, with which the target was
// measured, changed in a function.
package upgrades
