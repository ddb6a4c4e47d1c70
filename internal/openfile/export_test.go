package openfile

import "os"

// PutNewWith is PutNew on a file system that answers the wish for a link in this way.
func PutNewWith(path string, data []byte, link func(from, to string) error) error {
	return putNew(path, data, link, system)
}

// PutNewOn, WriteOn and SettleOn are PutNew, Write and Settle on a system that syncs in this way.
func PutNewOn(path string, data []byte, link func(from, to string) error, sync func(*os.File) error) error {
	return putNew(path, data, link, sync)
}

func WriteOn(path string, data []byte, sync func(*os.File) error) error {
	return lastingly(path, writing(data), rename, sync)
}

func SettleOn(dir string, sync func(*os.File) error) error { return settle(dir, sync) }
