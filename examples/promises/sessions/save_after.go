//go:build fix_save

package main

// visit counts a visit and returns how many there were.
func (s *sessions) visit(user string) int {
	s.mu.Lock()
	s.visits[user]++
	n := s.visits[user]
	s.mu.Unlock()
	s.store.save(user, n)
	return n
}
