//go:build !linux

package sandbox

// systemFiles are what programs of the system need for running.
func systemFiles() []string {
	return []string{
		"/usr", "/bin", "/sbin", "/System", "/Library", "/opt", "/Applications", "/private/etc/ssl/cert.pem", "/private/etc/ssl/certs",
		"/private/etc/ssl/openssl.cnf", "/private/etc/hosts", "/private/etc/resolv.conf",
		"/private/etc/passwd", "/private/etc/protocols", "/private/etc/services", "/private/etc/localtime", "/private/var/db/timezone", "/nix/store",
	}
}

// devices are those that hold nothing, which may be written too.
func devices() []string {
	return existing([]string{"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"})
}
