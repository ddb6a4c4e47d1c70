package sandbox

// systemFiles are what programs of the system need for running. Of /etc only what holds nothing secret.
func systemFiles() []string {
	paths := []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/gnu/store", "/snap", "/proc", "/sys",
		"/run/systemd/resolve", "/run/current-system", "/var/lib/ca-certificates",
	}
	for _, name := range []string{
		"alternatives", "ca-certificates", "ca-certificates.conf", "crypto-policies", "fonts", "gai.conf", "group", "host.conf", "hosts",
		"inputrc", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "locale.conf", "localtime", "machine-id", "magic", "mime.types",
		"nsswitch.conf", "os-release", "passwd", "pki/ca-trust", "pki/java", "pki/tls/cert.pem", "pki/tls/certs", "pki/tls/openssl.cnf",
		"pki/tls/openssl.d", "protocols", "resolv.conf", "services", "ssl/ca-bundle.pem", "ssl/cert.pem", "ssl/certs", "ssl/openssl.cnf",
		"static", "terminfo", "timezone",
	} {
		paths = append(paths, "/etc/"+name)
	}
	return paths
}

// devices are those that hold nothing, which may be written too.
func devices() []string {
	return existing([]string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"})
}
