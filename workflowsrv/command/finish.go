package command

// finish completes a workflow whose contexts and commands are there.
func (w *Workflow) finish() {
	for _, name := range sortedKeys(w.contexts) {
		w.Contexts = append(w.Contexts, w.contexts[name])
	}
	for _, name := range sortedKeys(w.commands) {
		w.Commands = append(w.Commands, w.commands[name])
	}
	w.own = map[string][]*Command{}
	for _, c := range w.Commands {
		w.own[c.Context] = append(w.own[c.Context], c)
	}
	w.anywhere = append(w.anywhere, w.own[""]...)
	for _, c := range w.Commands {
		if c.Context != "" && w.everywhere(c) {
			w.anywhere = append(w.anywhere, c)
		}
	}
	for _, c := range coreCommands() {
		w.commands[c.Name] = c
		w.anywhere = append(w.anywhere, c)
	}
	w.called = map[string][]*Command{}
	for _, c := range w.anywhere {
		w.called[c.Leaf] = append(w.called[c.Leaf], c)
		if c.Name != c.Leaf {
			w.called[c.Name] = append(w.called[c.Name], c)
		}
	}
}
