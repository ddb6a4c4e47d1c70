package definition

// Dirty reports whether a watcher has seen a change that no call of Catalogue has looked at.
func Dirty(s *Store) bool { return s.dirty.Load() }

// MarkDirty does what a watcher does when it sees a change.
func MarkDirty(s *Store) { s.dirty.Store(true) }
