package openfile

import (
	"io/fs"
	"os"
)

// Folder is a folder whose files are opened as by Open, and none outside of it, wherever links lead. It is to be
// closed.
type Folder struct{ root *os.Root }

// OpenFolder opens a folder.
func OpenFolder(path string) (*Folder, error) { return folder(os.OpenRoot(path)) }

// OpenFolder opens a folder inside of this one.
func (f *Folder) OpenFolder(path string) (*Folder, error) { return folder(f.root.OpenRoot(path)) }

func folder(root *os.Root, err error) (*Folder, error) {
	if err != nil {
		return nil, err
	}
	return &Folder{root}, nil
}

// FS returns the files of the folder. It is of use until Close.
func (f *Folder) FS() fs.FS { return folderFS{f.root} }

// Close closes the folder.
func (f *Folder) Close() error { return f.root.Close() }

// folderFS implements fs.StatFS and fs.ReadDirFS, too.
type folderFS struct{ root *os.Root }

func (f folderFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	file, err := f.root.OpenFile(name, os.O_RDONLY|withoutWaiting, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = notRegular(name, info.Mode())
	}
	if err != nil {
		_ = file.Close() // nothing was done with it
		return nil, err
	}
	return file, nil
}

func (f folderFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(f.root.FS(), name) }

func (f folderFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(f.root.FS(), name) }
