// Package used determines what callers use of the results of a function, and which code of the
// function computes nothing else than what they do not use.
//
// [Callers.Of] follows results through variables, parameters and further callers of a stack.
// [Of] is the other direction: from the used parts of the results back to the code that they, and
// the side effects of the function, depend on. The rest is [Idle]. Both take what they cannot
// follow for used.
package used
