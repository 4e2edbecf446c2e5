package main

// What a cluster can be told while it runs. Each is one line; the answer is one line of JSON, with `error` when it was
// not done.

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"
)

const help = `the commands are:
  restart ROLE                  kill a part, start it again, and wait until it is ready
  kill ROLE                     kill a part
  start ROLE                    start a part that was killed, and wait until it is ready
  freeze ROLE                   stop a part where it is: who connects gets no answer
  thaw ROLE                     let it go on
  user NAME LIFETIME [GROUP...] make a client certificate; the answer's "kubeconfig" is a file that uses it`

func (cluster *cluster) command(line string) (map[string]string, error) {
	words := strings.Fields(line)
	if len(words) < 2 {
		return nil, errors.New(help)
	}
	if words[0] == "user" {
		return cluster.user(words[1:])
	}
	child, err := cluster.children.find(words[1])
	if err != nil {
		return nil, err
	}
	done := map[string]string{"done": line}
	switch words[0] {
	case "restart":
		cluster.children.kill(child)
		return done, cluster.start(child)
	case "kill":
		cluster.children.kill(child)
		return done, nil
	case "start":
		return done, cluster.start(child)
	case "freeze":
		return done, cluster.children.signal(child, syscall.SIGSTOP)
	case "thaw":
		return done, cluster.children.signal(child, syscall.SIGCONT)
	default:
		return nil, errors.New(help)
	}
}

func (cluster *cluster) start(child *child) error {
	if cluster.node != nil && child.role == kubeletRole {
		if err := cluster.node.forget(); err != nil {
			return err
		}
	}
	if err := cluster.children.start(child); err != nil {
		return err
	}
	return cluster.await(child.role)
}

func (cluster *cluster) user(words []string) (map[string]string, error) {
	if len(words) < 2 {
		return nil, errors.New(help)
	}
	lifetime, err := time.ParseDuration(words[1])
	if err != nil {
		return nil, fmt.Errorf("the lifetime of a user: %w", err)
	}
	path, err := cluster.authority.kubeconfig(cluster.url, words[0], words[2:], lifetime)
	return map[string]string{"kubeconfig": path}, err
}
