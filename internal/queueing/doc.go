// Package queueing says how long requests take when a section of code that they queue for gets
// shorter, or can be entered by several at a time.
//
// The time spent waiting for a section is not proportional to the length of the section. In a
// closed loop of N clients where the section is the bottleneck, N-1 of them wait for it: halving
// the section doubles the throughput, until the next bottleneck is reached, usually the processors.
// At a fixed rate the queue shrinks faster than the section. The answer is therefore a model with
// the lock as one of its stations, calibrated with measurements of the service.
//
// Models and their sources:
//
//   - closed loop: exact mean value analysis of a network with a station for the lock, one for the
//     processors and a delay (Reiser and Lavenberg 1980; Lazowska, Zahorjan, Graham and Sevcik,
//     "Quantitative System Performance", 1984, chapter 6). The c processors are modelled as one
//     that is c times as fast, and a delay of (c-1)/c of the work (Seidmann, Schweitzer and
//     Shalev-Oren 1987);
//   - fixed rate: the queue of M/G/1 (Pollaczek and Khinchine) for the lock, of M/M/c (Erlang C)
//     for the processors.
//
// Like package gogc, it computes with figures only; the caller provides them.
package queueing
