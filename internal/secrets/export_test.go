package secrets

// EasyPassphrases has passphrases be checked in no time.
func (f *File) EasyPassphrases() { f.work = 1 }
