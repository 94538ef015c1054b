// Package queueing says how long requests take when a section of code that they queue for gets
// shorter, or can be entered by several at a time.
//
// What waiting costs does not shrink in proportion to the section that is waited for. In a closed
// loop of N clients where the section is the bottleneck, N-1 of them stand behind it: half the
// section is twice the throughput, until the next bottleneck is reached, which is mostly the
// processors. At a fixed rate the queue shrinks faster than the section. So the answer is a model
// with the lock as one of its stations; what was measured of the service calibrates it.
//
// Models and where they are from:
//
//   - closed loop: exact mean value analysis of a network with a station for the lock, one for the
//     processors and a delay (Reiser and Lavenberg 1980; Lazowska, Zahorjan, Graham and Sevcik,
//     "Quantitative System Performance", 1984, chapter 6). The c processors are one that is c times as
//     fast, and a delay of (c-1)/c of the work (Seidmann, Schweitzer and Shalev-Oren 1987);
//   - fixed rate: the queue of M/G/1 (Pollaczek and Khinchine) for the lock, of M/M/c (Erlang C) for
//     the processors.
//
// It knows figures only, as package gogc does: where they come from is the caller's affair.
package queueing
