// Package diagnose runs rules over sites and ranks what they find by the saving
// of the resource that limits the program.
package diagnose
