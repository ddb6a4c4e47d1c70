package definition

import (
	"maps"
	"slices"
)

// knownRefs gives the texts that parts of a prompt refer to by the names of published workflow files. The texts are
// ours.
func knownRefs() map[string]string {
	return map[string]string{
		"wr.refs.memory_usage": "Where tools of a memory are at hand, ask them before you begin what is known of this place, and keep what you " +
			"have found and decided when you are done, under words by which it is found again. A memory that fails stops nothing.",
		"wr.refs.memory_store": "Where a tool of a memory is at hand, keep the findings of this part in it: the files, the decisions and " +
			"their reasons. A memory that fails stops nothing.",
		"wr.refs.memory_query": "Where a tool of a memory is at hand, ask it what is known of this task and of this place. Go on without, if it " +
			"fails.",
		"wr.refs.notes_first_durability": "Write what you find, what you decide and why into the notes of the step, before you go on: the notes and " +
			"the context are what is left when this conversation is not. Files beside them are for readers, and no memory.",
		"wr.refs.synthesis_under_disagreement": "Where those who worked side by side disagree, settle it in the open. What two of them found alike " +
			"stands. Of two grades the graver one holds, unless the other comes with evidence. What only one has seen is looked into, and stops " +
			"nothing by itself unless it is plainly grave. Between a finding and its denial you decide, in the notes and before the end. Until then no " +
			"earlier recommendation stands.",
		"wr.refs.parallelize_cognition_serialize_synthesis": "Let independent work of the mind go side by side: gathering, guessing causes, reviewing, " +
			"each with a field of its own. Put the results together yourself, one after the other: nobody else decides, or writes the final text.",
		"wr.refs.adversarial_challenge_rules": "Try to break the position that leads, instead of looking for what confirms it. Build the best case for " +
			"another answer. Ask of each finding what would disprove it, and look for that. What survives is stronger for it; what does not is a " +
			"finding, and the position changes. Grade by the real risk, neither softer nor harder. What two challengers raise alike stops the work.",
	}
}

// A feature adds sentences to the parts of every prompt in parts.
type feature struct{ constraints, procedure, verify []string }

func knownFeatures() map[string]feature {
	refs := knownRefs()
	return map[string]feature{
		"wr.features.memory_context": {constraints: []string{refs["wr.refs.memory_usage"]}},
		"wr.features.capabilities": {
			constraints: []string{"Whether another agent, the network or a tool can be used is known only when it was tried: nothing here promises it."},
			procedure: []string{"Where such a means would make this step better, try whether it is there, and note what you saw.",
				"Where it is not, or is not worth it, do the work yourself and note what is lost by that."},
			verify: []string{"Each means that was relied on was seen to work, and each that was missing is named with its consequence."},
		},
		"wr.features.subagent_guidance": {
			constraints: []string{"Other agents give independent views. The decisions, and what is handed over, are yours.",
				refs["wr.refs.parallelize_cognition_serialize_synthesis"]},
			procedure: []string{"Give each agent a field of its own and the same facts to begin with.",
				"Judge what comes back yourself, before any of it counts."},
			verify: []string{"Nothing that another agent returned was taken over unread, and none of them had the last word."},
		},
	}
}

// knownContracts are the kinds of results that a step can owe.
func knownContracts() []string {
	return []string{"wr.contracts.assessment", "wr.contracts.coding_handoff", "wr.contracts.coordinator_signal",
		"wr.contracts.differentiation_handoff", "wr.contracts.discovery_handoff", "wr.contracts.gate_verdict", loopControl,
		"wr.contracts.review_verdict", "wr.contracts.shaping_handoff"}
}

// loopControl is the contract of a step that decides whether a loop goes on.
const loopControl = "wr.contracts.loop_control"

// preferences gives what the author recommends as sentences for the agent.
func preferences(autonomy, risk string) []string {
	var list []string
	if text := map[string]string{
		"guided":                      "Work in small steps, and show the user each decision before you act on it.",
		"full_auto_stop_on_user_deps": "Work on your own, and stop only where something is needed that the user alone can give.",
		"full_auto_never_stop":        "Work on your own to the end. Where the user would be asked, take the most careful assumption and write it down.",
	}[autonomy]; text != "" {
		list = append(list, text)
	}
	if text := map[string]string{
		"conservative": "Of two ways take the safer one, and ask before anything that cannot be undone.",
		"balanced":     "Weigh risk against gain, and say which risks you have taken.",
		"aggressive":   "Prefer speed: take risks that can be undone without asking.",
	}[risk]; text != "" {
		list = append(list, text)
	}
	return list
}

// figures gives what a profile of metrics wants to be told at the end.
func figures(profile string) string {
	return map[string]string{
		"coding":   "files and lines changed, tests added and their result, and whether the request is met",
		"review":   "files read, findings by severity, and the verdict",
		"research": "sources read, questions answered and left open, and how sure the answer is",
		"design":   "ways considered, the one chosen, and the risks that are left",
		"ticket":   "tickets written, and what of the request they do not cover",
	}[profile]
}

// names lists the keys of a table in order.
func names[V any](table map[string]V) []string {
	return slices.Sorted(maps.Keys(table))
}
