package command

// Find gives the names of the commands that an instruction has words in common
// with, the likeliest first.
func Find(w *Workflow, query string) []string {
	var list []string
	for _, c := range w.words().find(query, w.visibleAt(nil)) {
		list = append(list, c.command.Name)
	}
	return list
}

// Surely gives the command that an instruction means beyond doubt.
func Surely(w *Workflow, query string) (string, bool) {
	v, ok := surely(w.words().find(query, w.visibleAt(nil)))
	if !ok {
		return "", false
	}
	return v.command.Name, true
}
