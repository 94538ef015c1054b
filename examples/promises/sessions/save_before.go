//go:build !fix_save

package main

// visit counts a visit and returns how many there were.
func (s *sessions) visit(user string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visits[user]++
	s.store.save(user, s.visits[user])
	return s.visits[user]
}
