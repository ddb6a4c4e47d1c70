package child

// A Guard starts processes that end with us, however we end. Here the Job Object that each is in sees to that.
type Guard struct{}

// NewGuard returns a Guard; no process is run for it.
func NewGuard([]string) *Guard { return &Guard{} }

// Start is the function Start.
func (g *Guard) Start(spec Spec) (*Process, error) { return Start(spec) }

// Hasten does nothing: what is left ends with us.
func (g *Guard) Hasten(Grace) {}

// Close does nothing.
func (g *Guard) Close() {}

func veryFile(arg string) string { return arg }

// RunGuard returns 2: there is no guard process to be.
func RunGuard() int { return 2 }
