package main

// The folder of one cluster. Whoever runs a cluster holds a lock on its folder, so that the folders of those that were
// killed are told from those in use, and removed by whoever comes next.

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const folderPrefix = "cluster-"

// Makes a folder in `parent` and removes those that nobody uses any more. The lock is held until the process ends.
func newFolder(parent string) (string, error) {
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", err
	}
	// Between making a folder and locking it, another must not take it for an old one.
	all, err := os.OpenFile(filepath.Join(parent, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer all.Close()
	if err := syscall.Flock(int(all.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	removeUnused(parent)
	folder, err := os.MkdirTemp(parent, folderPrefix)
	if err != nil {
		return "", err
	}
	if held, err = os.OpenFile(filepath.Join(folder, "lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return "", err
	}
	return folder, syscall.Flock(int(held.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// The lock of this process's folder: a file that nothing refers to would be closed, and its lock given up.
var held *os.File

func removeUnused(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), folderPrefix) {
			continue
		}
		folder := filepath.Join(parent, entry.Name())
		lock, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			continue
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			// What cannot be removed today is tried again next time.
			_ = os.RemoveAll(folder)
		}
		lock.Close()
	}
}
