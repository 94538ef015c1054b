// Package diagnose runs rules over sites and ranks what they find by the saving
// of the resource that limits the program.
//
// The one decision that shapes it: rules find, the engine prices. A rule names
// rows of profiles and what to do about them; everything that makes a number of
// it is done here, once, in this order:
//
//   - charge gives every claimed row to one claim, so that no cost counts twice;
//   - group makes the claims of one rule in one function one finding;
//   - price multiplies what the rows cost (package site) by the share that the fix
//     saves, and carries both intervals;
//   - what is below max(1 %, 2σ) is counted, not shown, unless its function has a finding
//     that it can be listed with;
//   - rank orders the rest, and neighbours whose intervals overlap are tied.
//
// What is live is a cost to rules about memory alone: code that ran once at the start would look
// expensive for ever. Together adds promises up.
//
// A generic rule (rule.Rule.Generic) takes what the others leave: the most expensive lines are in the
// report even when nobody knows a mistake there, as hints behind all findings, without a saving. Join says
// how much of the recording is behind it all.
//
// What it refuses to do: to score. A finding shows its saving with bounds and how
// sure it is; no number mixes the two. And it accuses nobody without a measured
// cost: an empty report is a good answer.
package diagnose
