// Package diagnose runs rules over sites and ranks what they find by the saving of the resource
// that limits the program.
//
// The one decision that shapes it: rules find, the engine prices. A rule names rows of profiles and
// their fix; the engine computes all numbers from them once, in this order:
//
//   - charge gives every claimed row to one claim, so that no cost counts twice;
//   - group makes the claims of one rule in one function one finding;
//   - price multiplies what the rows cost (package site) by the share that the fix
//     saves, and carries both intervals;
//   - what is below max(1 %, 2σ) is counted, not shown, unless its function has a finding
//     that it can be listed with;
//   - rank orders the rest, and neighbours whose intervals overlap are tied.
//
// Live memory is a cost only to rules about memory: otherwise code that ran once at the start would
// look expensive forever. Together adds savings up.
//
// A generic rule (rule.Rule.Generic) takes what the others leave: the most expensive lines are in
// the report even when no rule knows a mistake there, as hints after all findings, without a
// saving. Join says how much of the recording the report covers.
//
// What it refuses to do: to score. A finding shows its saving with bounds, and its confidence; no
// number mixes the two. It reports nothing without a measured cost: an empty report is a good
// answer.
package diagnose
