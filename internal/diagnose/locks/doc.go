// Package locks finds critical sections: where a mutex is locked and unlocked,
// and what runs in between.
package locks
