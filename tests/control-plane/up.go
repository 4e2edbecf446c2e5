package main

// The role that runs a cluster: it makes what the parts need, starts them, says where they are, and ends them.
//
// On stdout it writes one line of JSON when everything is ready, and one more for each command, a line on stdin (see
// `commands.go`). When stdin is closed, or at SIGTERM or SIGINT, it ends everything and removes its folder. When it is
// killed, the kernel kills the parts, and the folder is removed by the next one.

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// What the first line says. Paths are absolute.
type description struct {
	URL string `json:"url"`
	// The certificate of the authority that every other is from.
	CA string `json:"ca"`
	// A member of system:masters.
	Kubeconfig string `json:"kubeconfig"`
	// One audit.k8s.io/v1 Event per line, see `audit.go`.
	AuditLog string `json:"auditLog"`
	// Each part writes ROLE.log in it.
	Folder  string              `json:"folder"`
	Kubelet *kubeletDescription `json:"kubelet,omitempty"`
}

type options struct {
	folder  string
	kubelet string
	grace   time.Duration
}

func up(arguments []string) int {
	options := options{}
	flags := flag.NewFlagSet("up", flag.ExitOnError)
	flags.StringVar(&options.folder, "folder", filepath.Join(os.TempDir(), "control-plane"), "the folder in which the cluster's own folder is made")
	flags.StringVar(&options.kubelet, "kubelet", "", "also run a kubelet (needs root), with this node name")
	flags.DurationVar(&options.grace, "node-monitor-grace-period", 24*time.Hour, "how long a node may be silent before it is not ready; the default is for nodes without a kubelet")
	_ = flags.Parse(arguments)

	folder, err := newFolder(options.folder)
	if err != nil {
		fmt.Fprintln(os.Stderr, "control-plane:", err)
		return 1
	}
	children, err := newChildren(folder)
	if err != nil {
		fmt.Fprintln(os.Stderr, "control-plane:", err)
		return 1
	}
	end := func(status int) {
		children.close()
		_ = os.RemoveAll(folder)
		os.Exit(status)
	}
	lines := make(chan string, 64)
	go endWith(lines, end)
	go func() {
		failed := <-children.failed
		fmt.Fprintf(os.Stderr, "control-plane: %s ended by itself; the end of its log:\n%s\n", failed.role, failed.tail())
		end(1)
	}()

	cluster, err := startCluster(children, options)
	if err != nil {
		fmt.Fprintln(os.Stderr, "control-plane:", err)
		end(1)
	}
	answer(cluster.describe())
	for {
		select {
		case line := <-lines:
			result, err := cluster.command(line)
			if err != nil {
				result = map[string]string{"error": err.Error()}
			}
			answer(result)
		case fallen := <-children.fallen:
			if err := children.revive(fallen); err != nil {
				fmt.Fprintln(os.Stderr, "control-plane:", err)
				end(1)
			}
		}
	}
}

// Passes on the lines of stdin, and ends everything after the last, or at a signal.
func endWith(lines chan<- string, end func(int)) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		end(0)
	}()
	scanner := bufio.NewScanner(os.Stdin)
	for scanner.Scan() {
		lines <- scanner.Text()
	}
	end(0)
}

func answer(value any) {
	text, err := json.Marshal(value)
	if err != nil {
		text, _ = json.Marshal(map[string]string{"error": err.Error()})
	}
	fmt.Println(string(text))
}
