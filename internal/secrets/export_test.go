package secrets

import "context"

// Note notes in the index that a secret is kept.
func (k Keychain) Note(ctx context.Context, name string) error { return k.note(ctx, name, true) }

// EasyPassphrases has passphrases be checked in no time.
func (f *File) EasyPassphrases() { f.work = 1 }
