package sandbox

import (
	"fmt"
	"strings"
)

// Profile returns the rules in the language of macOS's sandbox-exec.
func (r *Rules) Profile() string {
	var b strings.Builder
	b.WriteString("(version 1)\n(deny default)\n(import \"bsd.sb\")\n")
	b.WriteString("(allow process-fork)\n(allow signal (target same-sandbox))\n(allow process-info* (target same-sandbox))\n(allow sysctl-read)\n")
	b.WriteString("(allow file-read-metadata)\n(allow file-ioctl (literal \"/dev/null\"))\n")
	paths := func(rights string, paths []string) {
		for _, path := range paths {
			fmt.Fprintf(&b, "(allow %s (subpath %s))\n", rights, quoted(path))
		}
	}
	paths("file-read* process-exec", r.Read)
	paths("file-read* file-write* process-exec", r.Write)
	switch {
	case r.Network:
		b.WriteString("(allow network* (remote ip \"*:*\") (local ip \"*:*\"))\n(allow system-socket)\n")
		b.WriteString("(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))\n(allow mach-lookup (global-name \"com.apple.SystemConfiguration.configd\"))\n")
	case len(r.Ports) > 0:
		b.WriteString("(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))\n")
		for _, port := range r.Ports {
			fmt.Fprintf(&b, "(allow network-outbound (remote tcp \"*:%d\"))\n", port)
		}
	}
	if r.Unix {
		b.WriteString("(allow network-outbound (remote unix-socket))\n")
	}
	return b.String()
}

// quoted is a string of a profile.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// Wrap returns the command line that runs another under the rules on macOS.
func (r *Rules) Wrap(path string, argv []string) (wrapper string, wrapped []string) {
	return wrapperPath, append([]string{wrapperPath, "-p", r.Profile(), path}, argv[1:]...)
}

// wrapperPath is the program that enforces profiles.
const wrapperPath = "/usr/bin/sandbox-exec"
