package transcript

// SetLimit sets how many bytes wait for the disk at most.
func SetLimit(r *Recorder, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limit = n
}
