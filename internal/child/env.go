package child

import (
	"runtime"
	"strings"
)

// Getenv returns the value that a program given env, of KEY=VALUE, sees: the first one.
func Getenv(env []string, name string) (string, bool) {
	for _, kv := range env {
		if k, v, _ := strings.Cut(kv, "="); EnvKey(k) == EnvKey(name) {
			return v, true
		}
	}
	return "", false
}

// Declare adds what is declared to an environment, both of KEY=VALUE, and takes out what that replaces: of two entries with
// one name most programs see the first, getenv among them, and others the last.
func Declare(env, declared []string) []string {
	replaced := make(map[string]bool, len(declared))
	for _, kv := range declared {
		name, _, _ := strings.Cut(kv, "=")
		replaced[EnvKey(name)] = true
	}
	var kvs []string
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); !replaced[EnvKey(name)] {
			kvs = append(kvs, kv)
		}
	}
	return append(kvs, declared...)
}

// safeUnix and safeWindows name what a program needs to find its files, its language and the network, and what holds no
// secret. Beyond the list of the official MCP SDKs there are the locale, the XDG directories, temporary files, time
// zone, extra certificates and proxies, without which servers fail at many workplaces. Left out on purpose: whatever
// gives access by being known (SSH_AUTH_SOCK, DBUS_SESSION_BUS_ADDRESS, DISPLAY, tokens) and whatever changes which
// code runs (LD_*, DYLD_*, NODE_OPTIONS, PYTHON*). A server that needs those declares them.
func safeUnix() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ", "LANG", "LANGUAGE",
		"LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME",
		"XDG_CACHE_HOME", "XDG_CONFIG_DIRS", "XDG_CONFIG_HOME", "XDG_DATA_DIRS", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
		"XDG_STATE_HOME",
	}
}

func safeWindows() []string {
	return []string{
		"PATH", "PATHEXT", "SystemRoot", "SystemDrive", "windir", "ComSpec", "TEMP", "TMP", "APPDATA", "LOCALAPPDATA",
		"ProgramData", "ProgramFiles", "ProgramFiles(x86)", "CommonProgramFiles", "USERPROFILE", "USERNAME",
		"HOMEDRIVE", "HOMEPATH", "COMPUTERNAME", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
	}
}

func safeEverywhere() []string {
	return []string{
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
	}
}

// SafeEnv returns the part of an environment that any child may see, as KEY=VALUE in a fixed order. It reads it with
// lookup, such as os.LookupEnv. A proxy with a user name in its URL is left out, for there is a password too.
func SafeEnv(lookup func(string) (string, bool)) []string {
	names := safeUnix()
	if runtime.GOOS == "windows" {
		names = safeWindows()
	}
	var env []string
	for _, name := range append(names, safeEverywhere()...) {
		value, set := lookup(name)
		switch {
		case !set:
		case strings.HasPrefix(value, "()"): // a function that an old bash exports and runs when it reads it
		case strings.HasSuffix(strings.ToUpper(name), "_PROXY") && strings.Contains(value, "@"):
		default:
			env = append(env, name+"="+value)
		}
	}
	return env
}
