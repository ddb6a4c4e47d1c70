package recordhost

// Settle ends the writing, and waits for that as long as it takes.
func Settle(r *Recorder) {
	r.stop()
	<-r.done
}
