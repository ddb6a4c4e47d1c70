package thishost

import "testing"

func TestIs(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost": true, "127.0.0.1": true, "127.8.8.8": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "example.com": false, "localhost.example.com": false, "127.0.0.1.example.com": false, "10.0.0.1": false, "0.0.0.0": false,
	} {
		if got := Is(host); got != want {
			t.Errorf("%q: got %v, want %v", host, got, want)
		}
	}
}
