package clients

// Format is the language of a file.
type Format string

// The formats. JSON is read with comments and trailing commas, whether its client allows these or not.
const (
	JSON Format = "JSON"
	TOML Format = "TOML"
	YAML Format = "YAML"
)

// Client is an MCP client and the files that it keeps its servers in.
type Client struct {
	Name    string // as it is called on a command line
	Title   string // as its makers call it
	User    Places // the files of a user; all are read, and the first that is there is written
	Project []string
	Format  Format
	Key     []string // the keys that lead to the servers in a file
	Form    Form
	Vars    Vars
	Timeout string // what "timeout" in an entry bounds, and its unit: "call ms", "call s", "start ms"; "" if that is not known
	Desktop bool   // it is started from a desktop, with a short PATH and few variables
	Keeps   Keeping
}

// Keeping is which variables of its own environment a client keeps from the programs that it starts.
type Keeping string

// The ways to keep variables. The zero value keeps none, as far as that is known.
const (
	KeepsMost    Keeping = "most"    // all but a few, and those that "env_vars" of the entry names
	KeepsSecrets Keeping = "secrets" // those whose names look like a secret's, unless "env" of the entry has them
)

// Vars is how the strings of a client's file name variables.
type Vars string

// The ways to name variables. The zero value is that of most: ${NAME}, ${env:NAME}, ${input:ID} and others in braces.
const (
	VarsNone   Vars = "none"   // a string is what it is
	VarsShell  Vars = "shell"  // $NAME as well
	VarsBraces Vars = "braces" // {env:NAME}, {file:PATH}
)

// Places are the paths of a file, best first. A path begins with one of
//
//	~       the home of the user
//	$NAME   a variable; the path is the only one if it is set, and does not apply if it is not
//	CFG     where the system has applications keep settings: %APPDATA%, ~/Library/Application Support, $XDG_CONFIG_HOME
//	DATA    where the system has applications keep data: the same, but $XDG_DATA_HOME
//	LOCAL   %LOCALAPPDATA%
//	XDG     $XDG_CONFIG_HOME or ~/.config, on every system
//
// and may hold a * for a name that is not known, in paths that are only read.
type Places struct {
	Any     []string
	Windows []string // in place of Any, where they differ
}

// Form is how an entry is written. The zero value of a field is what most clients do.
type Form struct {
	List     bool   // the servers are a list of entries, each with its name
	Named    bool   // an entry repeats its name
	TypeKey  string // says how the server is reached; "" if nothing does
	Stdio    string // what it says of a program; "" leaves it out
	HTTP     string // what it says of an address; "" leaves it out
	Command  string // default "command"
	Array    bool   // the command is one array with its arguments
	Env      string // default "env"
	URL      string // default "url"
	TokenVar string // names the variable that holds the bearer token, where none is to be written
	NoHTTP   bool   // an address cannot be written into the file
	Fixed    []Fixed
}

// Fixed is a member that each entry of a form has.
type Fixed struct {
	Key  string
	JSON string // its value
}
