package rate

// Kept is how many are kept.
func (l *Limit) Kept() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.rested)
}
