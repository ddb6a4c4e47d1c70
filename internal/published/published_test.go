package published_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/published"
)

// What a server.json says becomes an entry, way by way.
func TestEntry(t *testing.T) {
	for _, tt := range []struct {
		name, parts string
		set         published.Values
		want        string // the entry, or a part of the error
	}{
		{"npm", `"packages":[{"registryType":"npm","identifier":"@a/b","version":"1.2.3","transport":{"type":"stdio"}}]`, nil,
			`{"command":"npx","args":["-y","@a/b@1.2.3"]}`},
		{"npm with -y and arguments", `"packages":[{"registryType":"npm","identifier":"b","version":"1","runtimeArguments":[{"type":"positional","value":"-y"}],
			"packageArguments":[{"type":"named","name":"--port","value":"80"},{"type":"positional","valueHint":"dir","isRequired":true},{"type":"named","name":"--verbose"}]}]`,
			published.Values{"dir": "${HOME}/x"}, `{"command":"npx","args":["-y","b@1","--port","80","${HOME}/x"]}`},
		{"an argument that is missing", `"packages":[{"registryType":"npm","identifier":"b","version":"1","packageArguments":[{"type":"positional","valueHint":"dir","description":"the folder","isRequired":true}]}]`,
			nil, "it wants dir (the folder)"},
		{"an input that is not known", `"packages":[{"registryType":"npm","identifier":"b","version":"1","environmentVariables":[{"name":"KEY"}]}]`,
			published.Values{"KEYS": "x"}, `it has no input "KEYS": its inputs are KEY`},
		{"pypi", `"packages":[{"registryType":"pypi","identifier":"b","version":"2"}]`, nil, `{"command":"uvx","args":["b@2"]}`},
		{"pipx", `"packages":[{"registryType":"pypi","identifier":"b","version":"2","runtimeHint":"pipx"}]`, nil, `{"command":"pipx","args":["run","b==2"]}`},
		{"a runner that is none", `"packages":[{"registryType":"pypi","identifier":"b","version":"2","runtimeHint":"rm"}]`, nil, `{"command":"uvx","args":["b@2"]}`},
		{"oci", `"packages":[{"registryType":"oci","identifier":"ghcr.io/a/b","version":"2","environmentVariables":[{"name":"KEY","isRequired":true,"isSecret":true},{"name":"MODE","default":"${x}"},{"name":"OPTIONAL"}]}]`,
			nil, `{"command":"docker","args":["run","-i","--rm","-e","KEY","-e","MODE","ghcr.io/a/b:2"],"env":{"KEY":"${secret:KEY}","MODE":"$${x}"}}`},
		{"oci with a tag", `"packages":[{"registryType":"oci","identifier":"ghcr.io:443/a/b:3"}]`, nil, `{"command":"docker","args":["run","-i","--rm","ghcr.io:443/a/b:3"]}`},
		{"nuget", `"packages":[{"registryType":"nuget","identifier":"B","version":"2","packageArguments":[{"type":"positional","value":"mcp"}]}]`, nil, `{"command":"dnx","args":["B@2","--yes","--","mcp"]}`},
		{"a variable of the environment", `"packages":[{"registryType":"npm","identifier":"b","version":"1","environmentVariables":[{"name":"API_URL","isRequired":true}]}]`,
			nil, `{"command":"npx","args":["-y","b@1"],"env":{"API_URL":"${API_URL}"}}`},
		{"a variable in pieces", `"packages":[{"registryType":"npm","identifier":"b","version":"1","packageArguments":[{"type":"positional","value":"{dollar}{HOME}","variables":{"dollar":{"default":"$"}}}],
			"environmentVariables":[{"name":"A","value":"\u0000{HOME}"},{"name":"B","default":"\u0000{HOME}"},{"name":"C","value":"${secret:{name}}","variables":{"name":{"default":"KEY"}}}]}]`,
			nil, `{"command":"npx","args":["-y","b@1","$${HOME}"],"env":{"A":"{HOME}","B":"{HOME}","C":"$${secret:KEY}"}}`},
		{"a choice", `"packages":[{"registryType":"npm","identifier":"b","version":"1","environmentVariables":[{"name":"MODE","choices":["a","b"]}]}]`,
			published.Values{"MODE": "c"}, "it wants MODE (one of a, b)"},
		{"remote", `"remotes":[{"type":"streamable-http","url":"https://{tenant}.example.com/mcp","variables":{"tenant":{}},"headers":[
			{"name":"Authorization","value":"Bearer {token}","variables":{"token":{"isSecret":true}}},{"name":"X-Key","isRequired":true,"isSecret":true},{"name":"X-None"}]}]`,
			published.Values{"tenant": "acme"}, `{"transport":"http","url":"https://acme.example.com/mcp","headers":{"Authorization":"Bearer ${secret:TOKEN}","X-Key":"${secret:X_KEY}"}}`},
		{"sse", `"remotes":[{"type":"sse","url":"https://example.com/sse"}]`, nil, `{"transport":"sse","url":"https://example.com/sse"}`},
		{"an address that is none", `"remotes":[{"type":"sse","url":"file:///etc/passwd"}]`, nil, `its address "file:///etc/passwd" is none of http`},
		{"a package that is a flag", `"packages":[{"registryType":"npm","identifier":"--call=x","version":"1"}]`, nil, "has no name of a package"},
		{"a version with a blank", `"packages":[{"registryType":"npm","identifier":"b","version":"1 --x"}]`, nil, "has no name of a package"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := published.Read([]byte(`{"name":"io.example/b","version":"1",` + tt.parts + `}`))
			if err != nil {
				t.Fatal(err)
			}
			ways := d.Ways()
			if len(ways) != 1 {
				t.Fatalf("got %d ways, want one", len(ways))
			}
			e, err := d.Entry(ways[0], tt.set)
			got := strings.Replace(string(e.Server.JSON()), `"_description":"io.example/b 1",`, "", 1)
			if err != nil {
				got = err.Error()
			}
			if got != tt.want && !(err != nil && strings.Contains(got, tt.want)) || e.Name != "b" {
				t.Errorf("got %s for %q, want %s for \"b\"", got, e.Name, tt.want)
			}
		})
	}
	d, err := published.Read([]byte(`{"name":"a/b","packages":[{"registryType":"npm","identifier":"x","transport":{"type":"streamable-http","url":"http://localhost:{port}"}},{"registryType":"cargo","identifier":"x"}]}`))
	if err != nil || len(d.Ways()) != 0 {
		t.Errorf("got %v, %v, want no ways that workbench cannot go", d.Ways(), err)
	}
}

// pack makes a bundle of files.
func pack(t *testing.T, manifest string, files map[string]string, change func(*zip.FileHeader)) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	files["manifest.json"] = manifest
	for name, text := range files {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		h.SetMode(0o755)
		if change != nil && name != "manifest.json" {
			change(h)
		}
		f, err := w.CreateHeader(h)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// What a bundle's manifest says becomes an entry.
func TestBundleEntry(t *testing.T) {
	const outside = "is neither a file in it nor the name of a program"
	for _, tt := range []struct {
		name, manifest, system string
		set                    published.Values
		want                   string
	}{
		{"node", `{"name":"My Files","server":{"type":"node","entry_point":"server/index.js","mcp_config":{"command":"node","args":["${__dirname}/server/index.js","${user_config.dirs}","${user_config.mode}"],"env":{"KEY":"${user_config.key}","NONE":"${user_config.none}","LIT":"${ODD}"}}},
			"user_config":{"dirs":{"multiple":true,"required":true,"default":["${HOME}/Desktop","${DOCUMENTS}"]},"mode":{"default":7},"key":{"required":true,"sensitive":true},"none":{}}}`, "linux", nil,
			`{"command":"node","args":["/b/server/index.js","${HOME}/Desktop","${HOME}/Documents","7"],"env":{"KEY":"${secret:KEY}","LIT":"$${ODD}"},"cwd":"/b"}`},
		{"a variable in pieces", `{"name":"f","server":{"mcp_config":{"command":"node","args":["${user_config.dollar}{HOME}","${A:-{}"],"env":{"B":"${secret:${user_config.name}}","C":"\u0000{HOME}"}}},
			"user_config":{"dollar":{"default":"$"},"name":{"default":"KEY"}}}`, "linux", nil,
			`{"command":"node","args":["$${HOME}","$${A:-{}"],"env":{"B":"$${secret:KEY}","C":"{HOME}"},"cwd":"/b"}`},
		{"values that are given", `{"name":"f","server":{"mcp_config":{"command":"node","args":["${user_config.dirs}"]}},"user_config":{"dirs":{"multiple":true,"required":true}}}`, "linux",
			published.Values{"dirs": "/x,/y"}, `{"command":"node","args":["/x","/y"],"cwd":"/b"}`},
		{"a value that is missing", `{"name":"f","server":{"mcp_config":{"command":"node","args":["${user_config.dir}"]}},"user_config":{"dir":{"title":"Folder","required":true}}}`, "linux", nil, "it wants dir (Folder)"},
		{"a binary", `{"name":"f","server":{"type":"binary","mcp_config":{"command":"server/f","args":["--x"],"platform_overrides":{"darwin":{"command":"server/f-mac","env":{"A":"1"}}}}}}`, "linux", nil,
			`{"command":"/b/server/f","args":["--x"],"cwd":"/b"}`},
		{"a binary on another system", `{"name":"f","server":{"type":"binary","mcp_config":{"command":"server/f","args":["--x"],"platform_overrides":{"darwin":{"command":"server/f-mac","env":{"A":"1"}}}}}}`, "darwin", nil,
			`{"command":"/b/server/f-mac","args":["--x"],"env":{"A":"1"},"cwd":"/b"}`},
		{"uv", `{"name":"f","server":{"type":"uv","entry_point":"src/main.py"}}`, "linux", nil, `{"command":"uv","args":["run","--directory","/b","src/main.py"],"cwd":"/b"}`},
		{"another system's", `{"name":"f","server":{"type":"node","entry_point":"x"},"compatibility":{"platforms":["win32"]}}`, "linux", nil, "it is made for win32, not for linux"},
		{"a program in its folder", `{"name":"f","server":{"mcp_config":{"command":"${__dirname}${/}bin${/}f"}}}`, "linux", nil, `{"command":"/b/bin/f","cwd":"/b"}`},
		{"a program of PATH with a dot", `{"name":"f","server":{"mcp_config":{"command":"python3.12"}}}`, "linux", nil, `{"command":"python3.12","cwd":"/b"}`},
		{"a file of it without a slash", `{"name":"f","server":{"mcp_config":{"command":"manifest.json"}}}`, "linux", nil, `{"command":"/b/manifest.json","cwd":"/b"}`},
		{"a program that the user chose", `{"name":"f","server":{"mcp_config":{"command":"${user_config.python}"}},"user_config":{"python":{}}}`, "linux",
			published.Values{"python": "/opt/py"}, `{"command":"/opt/py","cwd":"/b"}`},
		{"one that the bundle chose", `{"name":"f","server":{"mcp_config":{"command":"${user_config.python}"}},"user_config":{"python":{"default":"/bin/sh"}}}`, "linux", nil, outside},
		{"a way out", `{"name":"f","server":{"mcp_config":{"command":"../../../bin/sh"}}}`, "linux", nil, outside},
		{"a way out, dressed", `{"name":"f","server":{"mcp_config":{"command":"a/../../sh"}}}`, "linux", nil, outside},
		{"a way out of its folder", `{"name":"f","server":{"mcp_config":{"command":"${__dirname}/../sh"}}}`, "linux", nil, outside},
		{"a folder beside it", `{"name":"f","server":{"mcp_config":{"command":"${__dirname}2/sh"}}}`, "linux", nil, outside},
		{"an absolute path", `{"name":"f","server":{"mcp_config":{"command":"/bin/sh"}}}`, "linux", nil, outside},
		{"the home", `{"name":"f","server":{"mcp_config":{"command":"${HOME}/.local/bin/x"}}}`, "linux", nil, outside},
		{"backslashes", `{"name":"f","server":{"mcp_config":{"command":"..\\..\\sh"}}}`, "linux", nil, outside},
		{"variables for slashes", `{"name":"f","server":{"mcp_config":{"command":"..${/}sh"}}}`, "linux", nil, outside},
		{"the folder above", `{"name":"f","server":{"mcp_config":{"command":".."}}}`, "linux", nil, outside},
		{"on another system", `{"name":"f","server":{"mcp_config":{"command":"f","platform_overrides":{"linux":{"command":"/bin/sh"}}}}}`, "linux", nil, outside},
		{"an entry point outside", `{"name":"f","server":{"type":"node","entry_point":"../x.js"}}`, "linux", nil, "leads out of it"},
		{"a binary outside", `{"name":"f","server":{"type":"binary","entry_point":"../x"}}`, "linux", nil, "leads out of it"},
		{"no name", `{"name":"///","server":{}}`, "linux", nil, "no name that can be used"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := published.Open(pack(t, tt.manifest, map[string]string{}, nil))
			if err != nil {
				t.Fatal(err)
			}
			e, err := b.Entry("/b", tt.system, tt.set)
			e.Server.Description = ""
			got := string(e.Server.JSON())
			if err != nil {
				got = err.Error()
			}
			if runtime.GOOS != "windows" && got != tt.want && !(err != nil && strings.Contains(got, tt.want)) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// A bundle is unpacked into its folder and nowhere else, and what is no bundle says so.
func TestUnpack(t *testing.T) {
	manifest := `{"name":"f","server":{}}`
	for name, tt := range map[string]struct {
		data []byte
		want string // a part of the error, or "" for none
	}{
		"files":              {pack(t, manifest, map[string]string{"a/b/run.sh": "#!/bin/sh"}, nil), ""},
		"a way out":          {pack(t, manifest, map[string]string{"../out": "x"}, nil), "leads out of it"},
		"a way out, dressed": {pack(t, manifest, map[string]string{"a/../../out": "x"}, nil), "leads out of it"},
		"an absolute path":   {pack(t, manifest, map[string]string{"/tmp/out": "x"}, nil), "leads out of it"},
		"backslashes":        {pack(t, manifest, map[string]string{`..\out`: "x"}, nil), "leads out of it"},
		"a link":             {pack(t, manifest, map[string]string{"l": "/etc"}, func(h *zip.FileHeader) { h.SetMode(fs.ModeSymlink | 0o777) }), "no regular one"},
		"a device":           {pack(t, manifest, map[string]string{"d": ""}, func(h *zip.FileHeader) { h.SetMode(fs.ModeDevice | 0o666) }), "no regular one"},
		"no zip":             {[]byte("hello"), "it is not an MCP bundle"},
		"no manifest":        {pack(t, manifest, map[string]string{}, nil)[:20], "it is not an MCP bundle"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "in")
			b, err := published.Open(tt.data)
			if err == nil {
				err = b.Unpack(dir)
			}
			switch {
			case tt.want == "" && err != nil, tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want %q", err, tt.want)
			case tt.want == "":
				if info, err := os.Stat(filepath.Join(dir, "a/b/run.sh")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
					t.Errorf("got %v, %v, want a file that this user alone may run", info, err)
				}
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "out")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("got %v, want nothing outside", err)
			}
		})
	}
}

// The registry is asked as its API says, and what it says of a server is heeded.
func TestRegistry(t *testing.T) {
	bundle := []byte("a bundle")
	sum := sha256.Sum256(bundle)
	mux := http.NewServeMux()
	state := "active"
	mux.HandleFunc("GET /v0.1/servers/{name}/versions/{version}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("name") != "io.example/weather" || r.PathValue("version") != "latest" && r.PathValue("version") != "1.0.0" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w, `{"server":{"name":"io.example/weather","version":"1.0.0"},"_meta":{"io.modelcontextprotocol.registry/official":{"status":%q,"statusMessage":"old\u202e"}}}`, state)
	})
	mux.HandleFunc("GET /v0.1/servers", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("search") != "wether" {
			fmt.Fprint(w, `{"servers":[]}`)
			return
		}
		fmt.Fprint(w, `{"servers":[{"server":{"name":"io.example/other"}},{"server":{"name":"io.example/weather"}}]}`)
	})
	mux.HandleFunc("GET /bundle", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(bundle) })
	srv := httptest.NewServer(mux)
	defer srv.Close()
	r := published.Registry{Base: srv.URL + "/", HTTP: srv.Client()}
	if d, note, err := r.Find(t.Context(), "io.example/weather", ""); err != nil || d.Version != "1.0.0" || note != "" {
		t.Errorf("got %v, %q, %v, want the server", d, note, err)
	}
	state = "deprecated"
	if _, note, err := r.Find(t.Context(), "io.example/weather", "1.0.0"); err != nil || !strings.Contains(note, "deprecated: old") || strings.Contains(note, "\u202e") {
		t.Errorf("got %q, %v, want a note without hidden characters", note, err)
	}
	state = "deleted"
	if _, _, err := r.Find(t.Context(), "io.example/weather", "1.0.0"); err == nil || !strings.Contains(err.Error(), "has deleted") {
		t.Errorf("got %v, want it refused", err)
	}
	unknown := new(published.UnknownError)
	if _, _, err := r.Find(t.Context(), "io.example/wether", ""); !errors.As(err, &unknown) || len(unknown.Like) == 0 || unknown.Like[0] != "io.example/weather" {
		t.Errorf("got %v, %+v, want the name that is like it", err, unknown)
	}
	for digest, want := range map[string]string{hex.EncodeToString(sum[:]): "", strings.Repeat("0", 64): "differs", "": "without a SHA-256"} {
		data, err := r.Fetch(t.Context(), published.Way{URL: srv.URL + "/bundle", Digest: digest})
		if want == "" && (err != nil || !bytes.Equal(data, bundle)) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("with %q: got %q, %v, want %q", digest, data, err, want)
		}
	}
	for _, address := range []string{"http://example.com/x", "ftp://localhost/x", "file:///etc/passwd"} {
		if _, err := r.Fetch(t.Context(), published.Way{URL: address, Digest: strings.Repeat("0", 64)}); err == nil || !strings.Contains(err.Error(), "not one of https") {
			t.Errorf("%s: got %v, want it refused", address, err)
		}
	}
}
