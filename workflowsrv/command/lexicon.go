package command

import "strings"

// An action is what somebody wants done, or what a command does, as a set of kinds: a word may stand for several.
type action uint8

const (
	look   action = 1 << iota // show, list, count
	seek                      // find by words
	create                    // make something that was not there
	change                    // change something that is there
	remove                    // take something away
	tell                      // reach somebody
	travel                    // go somewhere
	start                     // have something run, or stop it
)

// phrases are turns of speech, with the words that tools have for them. The instruction is read from its beginning, and
// the longest phrase counts.
func phrases() map[string]string {
	return map[string]string{
		"get rid of": "delete remove", "throw away": "delete remove", "throw out": "delete remove", "take off": "remove", "take out": "remove",
		"take away": "remove", "cross out": "delete remove", "wipe out": "delete", "do away with": "delete",
		"no longer": "delete remove", "any more": "delete remove", "not any longer": "delete remove", "not true": "delete remove", "anymore": "delete remove",
		"look up": "search find get lookup", "look for": "search find", "looking for": "search find", "where is": "search find", "where are": "search find list",
		"where did": "search find", "where do": "search find", "where can": "search find", "have anything": "search find", "is there a": "search find", "is there an": "search find",
		"are there": "list", "anything about": "search find", "anything on": "search find", "mention": "search find",
		"jot down": "write add note create", "write down": "write add note create", "make a note": "write add note", "put down": "write add note", "take a note": "write add note",
		"put in": "create add", "put together": "merge create combine", "bring up": "start deploy show", "set up": "create", "spin up": "start create deploy",
		"fire up": "start run", "kick off": "start run", "shut down": "stop close", "turn off": "stop disable", "turn on": "start enable", "hand over": "assign give",
		"hand to": "assign give", "give to": "assign", "take care of": "assign", "call off": "cancel", "sign off": "approve", "check in": "commit", "check out": "checkout switch",
		"go to": "open switch navigate go", "go back": "back up previous", "take me to": "open switch navigate go", "bring me to": "open go", "switch to": "switch open",
		"how big": "size sizes info", "how large": "size sizes info", "how long": "duration time size", "how many": "count number list statistics", "how much": "amount total price",
		"how old": "date created info", "how busy": "workload", "how often": "count statistics", "what time": "time", "what happened": "recent activity history log",
		"going on": "current status list", "up to": "status", "last modified": "modified info metadata", "last changed": "modified info metadata", "set to": "set update change",
		"write to": "write send", "write back": "reply send", "get back to": "reply send", "tell me": "show get", "tell everybody": "announce report send",
		"let know": "send notify", "bring back": "reopen restore undo", "come back": "reopen", "came back": "reopen", "again": "reopen restart retry", "put back": "restore undo",
		"in the picture": "image", "at the same time": "multiple", "what is in": "read show get list contents", "what s in": "read show get list contents",
		"copy of": "copy duplicate clone fork", "a copy": "copy duplicate clone fork",
		"works with": "relation relations", "works for": "relation relations", "work with": "relation relations", "work for": "relation relations",
		"is married to": "relation relations", "belongs to": "relation relations", "knows": "relation relations", "is friends with": "relation relations", "lives in": "relation relations observation",
		"do you know": "search memory knowledge", "keep in mind": "remember memory add", "who is": "user person customer who whois get", "who are": "user person list", "who has": "user list",
		"who owns": "owner whois user", "who works": "user list members", "which of": "list", "say about": "read get", "does say": "read", "may you": "allowed", "can you use": "allowed",
		"may i": "allowed", "are allowed": "allowed", "allowed to": "allowed", "made up of": "structure tree", "looks like": "show structure", "look like": "show structure",
		"where am i": "context", "where are we": "context", "can you do": "commands", "can i do": "commands", "what can": "commands",
		"back to start": "reset top", "to the top": "reset top", "back to the start": "reset top", "to the beginning": "reset top", "one level": "up", "level up": "up", "start again": "reset", "start over": "reset",
	}
}

// alikes are groups of words that say nearly the same of what a tool does (verbs), or of what it is about (nouns).
func alikes() (verbs, nouns []string) {
	return []string{
			"delete remove erase drop discard forget destroy wipe clear unlink trash eliminate",
			"create make add generate register file raise log begin set",
			"open create raise file reopen",
			"open read show get view",
			"add append attach include put insert save remember",
			"update edit modify change alter adjust correct fix replace set revise amend",
			"rename move relocate transfer shift",
			"close finish resolve complete done solve solved resolved settle end update state",
			"reopen restore undo revert",
			"read get show view see display print fetch retrieve contents content text say load",
			"write save store put record jot keep note dump create",
			"dump read export",
			"list show enumerate all which overview",
			"search find query lookup seek locate discover",
			"duplicate copy clone",
			"remember add create store note",
			"link connect relate associate create", "copy fork",
			"check inspect test status",
			"approve accept reject review",
			"cancel abort revoke withdraw",
			"assign give hand delegate",
			"send mail email post deliver",
			"reply answer respond send",
			"announce report publish declare broadcast",
			"buy order purchase want",
			"merge combine join unite",
			"switch checkout change navigate",
			"stage add", "unstage reset", "fork branch",
			"run execute launch start", "stop kill end halt terminate",
			"download fetch", "upload send attach",
			"wrong correct update delete remove", "ignore skip",
		}, []string{
			"folder directory", "picture image photo media", "sound audio music media", "screenshot picture image", "video media film movie",
			"structure tree hierarchy layout nested recursive",
			"big bigger biggest small smallest size sizes large larger largest space bytes heavy",
			"file document",
			"pr pull request",
			"repository repo project codebase",
			"issue ticket bug problem defect request",
			"comment note remark annotation",
			"fact observation",
			"memory knowledge graph", "know knowledge memory", "remember memory observation", "forget memory",
			"person people human user entity member someone somebody employee contact name",
			"agent colleague member team staff support", "everybody everyone team member each",
			"customer client",
			"link relation connection relationship association",
			"entity node thing",
			"whole entire complete full everything all",
			"check ci build pass passing green red fail failing status", "touch change",
			"lately recent recently last latest history", "committed commit commits log history",
			"history log earlier previous past before",
			"modified metadata info information details", "details detail metadata info information history",
			"amount number quantity copies count",
			"urgent critical important high low priority",
			"duplicate same", "outage down broken disruption", "down service",
			"statistics numbers report average figures count metrics",
			"workload busy load", "street moved postal address",
			"article guide instruction instructions docs knowledge manual howto",
			"sheet worksheet spreadsheet tab", "cell cells range",
			"owner owns whois registrant",
			"allowed permitted accessible may access",
			"several multiple many both",
			"up parent above", "help commands options", "context place where",
			"synced sync synchronized",
			"title subject name", "author writer", "website webpage url page site", "mail email message", "receipt invoice bill",
			"price cost quote", "weather forecast temperature", "event appointment meeting calendar",
			"message chat text", "spot place location", "db database", "shell terminal command", "chart graph plot diagram",
		}
}

// actions are the words that say what is done.
func actions() map[string]action {
	table := map[string]action{}
	for _, row := range []struct {
		kinds action
		words string
	}{
		{look, "show list get view see display print read fetch retrieve describe give tell count what which who when how is are did does has have was were " +
			"anything info status info information details preview check inspect explain whats compare watch monitor tree"},
		{seek, "search find query locate where seek lookup"},
		{look | seek, "look do any"},
		{look | travel | create, "open"},
		{create, "link connect relate create make add new insert register file raise log place order write save store record remember generate draft note jot build fork clone copy duplicate comment leave init upload push"},
		{create | start, "start begin"},
		{change, "update edit change set modify rename move replace correct fix mark adjust put assign close reopen resolve raise lower merge approve review finish switch transfer restore append"},
		{create | change | tell, "add write comment put"},
		{remove, "delete remove forget erase drop discard clear cancel wipe unlink trash revoke"},
		{tell | create, "report file"},
		{tell, "send mail email reply announce notify post publish report tell answer message share invite"},
		{travel, "go switch navigate enter back up return leave reset checkout"},
		{start, "run execute launch stop restart deploy trigger kill begin end"},
	} {
		for _, word := range strings.Fields(row.words) {
			table[stem(word)] |= row.kinds
		}
	}
	return table
}
