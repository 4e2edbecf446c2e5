package main

// The processes that a cluster is made of. None outlives this one.

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// A child is one part and, while it runs, its process.
type child struct {
	role      string
	arguments []string
	// Runs in a mount namespace of its own.
	private bool
	// May end by itself and is then started again, as a service manager would. Controllers give up when the server
	// goes away while they start.
	revived bool
	// Where it runs: an empty folder, since a kubelet may delete the files of its working folder.
	folder string
	// Where its output goes.
	log string

	process *os.Process
	// Closed when the process has ended.
	ended chan struct{}
	// It was told to end, so that its end is no failure.
	stopped bool
	// How often it was started.
	lives int
}

// Children are started by the main goroutine alone (see `main`), and may be ended by any.
type children struct {
	binary string
	folder string
	lock   sync.Mutex
	all    []*child
	// Everything is ending: nothing is started any more, and no end is a failure.
	closed bool
	// Children that ended by themselves, and are to be started again.
	fallen chan *child
	// Those that are not.
	failed chan *child
}

// A part that ends by itself time and again does not work.
const lives = 20

func newChildren(folder string) (*children, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return &children{binary: binary, folder: folder, fallen: make(chan *child, 16), failed: make(chan *child, 16)}, nil
}

func (children *children) add(added *child) error {
	added.folder = filepath.Join(children.folder, "work", added.role)
	added.log = filepath.Join(children.folder, added.role+".log")
	if err := os.MkdirAll(added.folder, 0o700); err != nil {
		return err
	}
	children.lock.Lock()
	children.all = append(children.all, added)
	children.lock.Unlock()
	return children.start(added)
}

// Starts again what has ended by itself, if it was not told to end, or to start, meanwhile.
func (children *children) revive(child *child) error {
	children.lock.Lock()
	down := child.process == nil && !child.stopped
	children.lock.Unlock()
	if !down {
		return nil
	}
	return children.start(child)
}

func (children *children) find(role string) (*child, error) {
	children.lock.Lock()
	defer children.lock.Unlock()
	for _, child := range children.all {
		if child.role == role {
			return child, nil
		}
	}
	return nil, fmt.Errorf("there is no %q", role)
}

func (children *children) start(child *child) error {
	children.lock.Lock()
	defer children.lock.Unlock()
	if children.closed {
		return fmt.Errorf("%s: not started, everything is ending", child.role)
	}
	if child.process != nil {
		return fmt.Errorf("%s runs already", child.role)
	}
	log, err := os.OpenFile(child.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command(children.binary, append([]string{child.role}, child.arguments...)...)
	command.Dir = child.folder
	command.Stdout = log
	command.Stderr = log
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if child.private {
		command.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("%s: %w", child.role, err)
	}
	child.process = command.Process
	child.ended = make(chan struct{})
	child.stopped = false
	child.lives++
	go func(ended chan struct{}) {
		_ = command.Wait()
		children.lock.Lock()
		child.process = nil
		failed := !child.stopped && !children.closed
		children.lock.Unlock()
		close(ended)
		switch {
		case failed && child.revived && child.lives < lives:
			children.fallen <- child
		case failed:
			children.failed <- child
		}
	}(child.ended)
	return nil
}

// Ends a child at once and waits until it has ended.
func (children *children) kill(child *child) {
	children.lock.Lock()
	process, ended := child.process, child.ended
	child.stopped = true
	children.lock.Unlock()
	if process != nil {
		_ = process.Kill()
		<-ended
	}
}

func (children *children) signal(child *child, signal syscall.Signal) error {
	children.lock.Lock()
	defer children.lock.Unlock()
	if child.process == nil {
		return fmt.Errorf("%s does not run", child.role)
	}
	return child.process.Signal(signal)
}

// Ends everything, for good.
func (children *children) close() {
	children.lock.Lock()
	children.closed = true
	all := children.all
	children.lock.Unlock()
	for _, child := range all {
		_ = children.signal(child, syscall.SIGKILL)
	}
	for _, child := range all {
		children.kill(child)
	}
}

// The end of what a child wrote.
func (child *child) tail() string {
	const lines = 20
	text, err := os.ReadFile(child.log)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
