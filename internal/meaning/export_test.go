package meaning

import "time"

// SetWait says how long a search waits for the model.
func (m *Meanings) SetWait(d time.Duration) { m.wait = d }
