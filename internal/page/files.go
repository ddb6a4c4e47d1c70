package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"io/fs"
	"net/http"
	"path"
)

//go:embed assets
var assets embed.FS

// file is one file of the page.
type file struct {
	text      []byte
	kind, tag string
}

// files are all of them, by their names.
type files map[string]file

func readFiles() files {
	kinds := map[string]string{
		".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
		".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
	}
	all := make(files)
	entries, err := fs.ReadDir(assets, "assets")
	if err != nil {
		panic("page: the files are part of the program: " + err.Error())
	}
	for _, e := range entries {
		text, err := assets.ReadFile("assets/" + e.Name())
		if err != nil {
			panic("page: the files are part of the program: " + err.Error())
		}
		sum := sha256.Sum256(text)
		all[e.Name()] = file{text, kinds[path.Ext(e.Name())], `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
	}
	return all
}

// serve serves a file; "" is the page itself.
func (f files) serve(w http.ResponseWriter, r *http.Request, name string) {
	if name == "" {
		name = "index.html"
	}
	one, ok := f[name]
	if !ok {
		fail(w, http.StatusNotFound, "there is no such file")
		return
	}
	h := w.Header()
	h.Set("Content-Type", one.kind)
	h.Set("Cache-Control", "no-cache") // kept, and asked about each time
	h.Set("ETag", one.tag)
	if r.Header.Get("If-None-Match") == one.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(one.text) // who does not read is gone
}
