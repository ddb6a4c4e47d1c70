package habits

import "time"

// Patient has it wait for other processes until they are done.
func (m *Memory) Patient() { m.wait = time.Hour }
