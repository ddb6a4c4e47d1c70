package main

import (
	"archive/zip"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// packed makes a bundle of a folder: "packed FILE FOLDER".
func packed(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	w := zip.NewWriter(f)
	ts.Check(w.AddFS(os.DirFS(ts.MkAbs(args[1]))))
	ts.Check(w.Close())
	ts.Check(f.Close())
}

// registry has a registry of MCP servers answer until the end of the script: the server io.example/NAME is what is in
// FOLDER/NAME.json.
func registry(ts *testscript.TestScript, _ bool, args []string) {
	folder := os.DirFS(ts.MkAbs(args[0]))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v0.1/servers/{name}/versions/{version}", func(w http.ResponseWriter, r *http.Request) {
		name, _ := strings.CutPrefix(r.PathValue("name"), "io.example/")
		http.ServeFileFS(w, r, folder, name+".json")
	})
	mux.HandleFunc("GET /v0.1/servers", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, folder, "all.json")
	})
	server := httptest.NewServer(mux)
	ts.Defer(server.Close)
	ts.Setenv("WORKBENCH_REGISTRY", server.URL)
}
