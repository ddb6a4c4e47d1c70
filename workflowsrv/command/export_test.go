package command

// Find gives the names of the commands that an instruction may mean from where
// a path ends, the likeliest first.
func Find(w *Workflow, at Path, query string) []string {
	var list []string
	for _, c := range w.words().find(query, at, w.visibleAt(at)) {
		list = append(list, c.command.Name)
	}
	return list
}
