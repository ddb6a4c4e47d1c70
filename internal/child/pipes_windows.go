package child

import "os"

// outputState knows nothing here.
func outputState(*os.File) readiness { return outputOpen }
