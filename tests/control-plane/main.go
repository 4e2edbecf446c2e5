// One binary that plays every part of a Kubernetes cluster for the tests, so that it is built once and every part is of
// the same version. The first argument says which part; `up` is the one that runs the others.
package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
)

// A role plays one part until it ends, and returns the exit status. Its arguments do not have its name.
type role func(arguments []string) int

var roles = map[string]role{
	"up":                      up,
	"etcd":                    etcd,
	"kube-apiserver":          apiServer,
	"kube-controller-manager": controllerManager,
	"kube-scheduler":          scheduler,
	"kubelet":                 kubelet,
	"fake-cri":                fakeRuntime,
	"device-plugin":           devicePlugin,
	"pod-resources":           podResources,
}

// The kernel sends a child its parent-death signal when the thread that started it ends. So children are started by the
// main thread, which lives as long as the process.
func init() {
	runtime.LockOSThread()
}

func main() {
	if len(os.Args) < 2 {
		usage()
	}
	play, known := roles[os.Args[1]]
	if !known {
		usage()
	}
	// The parts of Kubernetes read os.Args themselves.
	os.Args = os.Args[1:]
	os.Exit(play(os.Args[1:]))
}

func usage() {
	names := make([]string, 0, len(roles))
	for name := range roles {
		names = append(names, name)
	}
	slices.Sort(names)
	fmt.Fprintf(os.Stderr, "usage: control-plane ROLE [ARGUMENT...], where ROLE is one of %s\n", strings.Join(names, ", "))
	os.Exit(2)
}
