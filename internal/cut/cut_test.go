package cut

import "testing"

func TestCut(t *testing.T) {
	for _, c := range []struct{ name, got, want string }{
		{"a text of so many characters is whole", After("äbc", 3), "äbc"},
		{"one of more is cut behind them", After("äbcd", 3), "äbc…"},
		{"nothing is left of it", After("ab", 0), "…"},
		{"the mark counts", Within("äbcd", 3), "äb…"},
		{"a text that fits has none", Within("äbc", 3), "äbc"},
		{"bytes are counted with the mark", Bytes("abcdefg", 6), "abc…"},
		{"no character is torn", Bytes("abädefg", 6), "ab…"},
		{"there is no room for more than the mark", Bytes("abcdefg", 2), "…"},
		{"so many bytes are whole", Bytes("abcdef", 6), "abcdef"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, c.got, c.want)
		}
	}
}
