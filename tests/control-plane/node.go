package main

// A real kubelet as a node of the cluster, over the fake container runtime.
//
// A kubelet takes the machine for its own: it sets the kernel's parameters, makes folders under /var and /usr, mounts
// there. So it runs in a mount namespace of its own (which needs root), where what it writes is in the cluster's folder
// or in memory, and the kernel's parameters are files that nobody reads.

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

const kubeletRole = "kubelet"

// The folders of the node, which the kubelet sees as what is said beside each.
type node struct {
	name string
	// The folder of all below.
	folder string
	// /var/lib/kubelet
	root string
	// /var/log/pods
	logs string
	// The kubelet's client of the container runtime.
	runtime string
	// One CreateContainerRequest per line.
	containers string
}

// What the first line says about the node.
type kubeletDescription struct {
	Name string `json:"name"`
	// What the kubelet sees as /var/lib/kubelet.
	Root string `json:"root"`
	// What the kubelet sees as /var/log/pods.
	Logs string `json:"logs"`
	// What the runtime was told to create: one CreateContainerRequest per line.
	Containers string `json:"containers"`
}

func (node *node) describe() *kubeletDescription {
	return &kubeletDescription{Name: node.name, Root: node.root, Logs: node.logs, Containers: node.containers}
}

func (node *node) registrationSocket() string {
	return filepath.Join(node.root, "device-plugins", "kubelet.sock")
}

// The socket stays when a kubelet ends. It is removed before another starts, so that its presence means something.
func (node *node) forget() error {
	if err := os.Remove(node.registrationSocket()); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func (cluster *cluster) startKubelet(name string) (*node, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("a kubelet needs root")
	}
	folder := filepath.Join(cluster.children.folder, "node")
	node := &node{
		name:       name,
		folder:     folder,
		root:       filepath.Join(folder, "kubelet"),
		logs:       filepath.Join(folder, "logs"),
		runtime:    filepath.Join(folder, "runtime.sock"),
		containers: filepath.Join(folder, "containers.jsonl"),
	}
	for _, made := range []string{node.root, node.logs} {
		if err := os.MkdirAll(made, 0o700); err != nil {
			return nil, err
		}
	}
	runtime := &child{role: "fake-cri", arguments: []string{node.runtime, node.logs, node.containers}}
	if err := cluster.children.add(runtime); err != nil {
		return nil, err
	}
	cluster.ready["fake-cri"] = exists(node.runtime)
	if err := cluster.await("fake-cri"); err != nil {
		return nil, err
	}
	arguments, err := cluster.kubeletArguments(node)
	if err != nil {
		return nil, err
	}
	kubelet := &child{role: kubeletRole, private: true, arguments: append([]string{folder}, arguments...)}
	if err := cluster.children.add(kubelet); err != nil {
		return nil, err
	}
	cluster.ready[kubeletRole] = exists(node.registrationSocket())
	return node, cluster.await(kubeletRole)
}

func exists(path string) func() error {
	return func() error {
		_, err := os.Stat(path)
		return err
	}
}

func (cluster *cluster) kubeletArguments(node *node) ([]string, error) {
	kubeconfig, err := cluster.authority.kubeconfig(cluster.url, "system:node:"+node.name, []string{"system:nodes"}, clusterLifetime)
	if err != nil {
		return nil, err
	}
	ports, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	never := map[string]string{}
	for _, signal := range []string{"memory.available", "nodefs.available", "nodefs.inodesFree", "imagefs.available", "imagefs.inodesFree", "pid.available"} {
		never[signal] = "0%"
	}
	// JSON is YAML.
	text, err := json.MarshalIndent(map[string]any{
		"apiVersion": "kubelet.config.k8s.io/v1beta1",
		"kind":       "KubeletConfiguration",
		// It listens where the API server finds it, on the machine's address, and lets in who has a certificate of
		// the cluster.
		"port": ports[0],
		"authentication": map[string]any{
			"anonymous": map[string]any{"enabled": false},
			"webhook":   map[string]any{"enabled": false},
			"x509":      map[string]any{"clientCAFile": cluster.authority.pair("ca").certificate},
		},
		"authorization": map[string]any{"mode": "AlwaysAllow"},
		"readOnlyPort":  0,
		"healthzPort":   0,
		// It manages no process, so no cgroup.
		"cgroupDriver":           "cgroupfs",
		"cgroupsPerQOS":          false,
		"enforceNodeAllocatable": []string{},
		"failCgroupV1":           false,
		"oomScoreAdj":            0,
		// The machine's disk, memory and network are not its business.
		"failSwapOn":                    false,
		"localStorageCapacityIsolation": false,
		"makeIPTablesUtilChains":        false,
		"evictionHard":                  never,
		"registerNode":                  true,
		"containerRuntimeEndpoint":      "unix://" + node.runtime,
		"volumePluginDir":               filepath.Join(node.folder, "volume-plugins"),
		"protectKernelDefaults":         true,
		"resolvConf":                    "",
		"serializeImagePulls":           false,
		// So that tests do not wait for what changes.
		"nodeStatusUpdateFrequency": "1s",
		"nodeStatusReportFrequency": "1s",
		"syncFrequency":             "1s",
		"volumeStatsAggPeriod":      "-1s",
	}, "", "  ")
	if err != nil {
		return nil, err
	}
	configuration := filepath.Join(node.folder, "kubelet.json")
	if err := os.WriteFile(configuration, append(text, '\n'), 0o600); err != nil {
		return nil, err
	}
	return []string{"--kubeconfig=" + kubeconfig, "--config=" + configuration, "--hostname-override=" + node.name}, nil
}

// The kernel's parameters that a kubelet wants, with the values that it wants. It looks at these and changes nothing.
var kernelParameters = map[string]string{
	"vm/overcommit_memory":      "1",
	"vm/panic_on_oom":           "0",
	"kernel/panic":              "10",
	"kernel/panic_on_oops":      "1",
	"kernel/keys/root_maxkeys":  "1000000",
	"kernel/keys/root_maxbytes": "25000000",
}

// The role: makes the place in which a kubelet does no harm, and becomes it. The first argument is the node's folder, the
// others are the kubelet's.
func kubelet(arguments []string) int {
	if len(arguments) < 1 {
		fmt.Fprintln(os.Stderr, "kubelet: the node's folder is missing")
		return 2
	}
	if err := enclose(arguments[0]); err != nil {
		fmt.Fprintln(os.Stderr, "kubelet:", err)
		return 1
	}
	os.Args = append([]string{"kubelet"}, arguments[1:]...)
	return runKubelet()
}

func enclose(folder string) error {
	ours, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		return err
	}
	theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", os.Getppid()))
	if err != nil {
		return err
	}
	if ours == theirs {
		return errors.New("refuses to run in the mount namespace of its parent")
	}
	if err := mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE); err != nil {
		return err
	}
	// No parameter of the kernel can be written from here on, and those that it looks at are as it likes them.
	if err := mount("/proc/sys", "/proc/sys", "", syscall.MS_BIND); err != nil {
		return err
	}
	parameters := filepath.Join(folder, "kernel")
	for name, value := range kernelParameters {
		file := filepath.Join(parameters, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(value+"\n"), 0o600); err != nil {
			return err
		}
		if err := mount(file, "/proc/sys/"+name, "", syscall.MS_BIND); err != nil {
			return err
		}
	}
	if err := mount("", "/proc/sys", "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY); err != nil {
		return err
	}
	// The folders that a kubelet has in fixed places. They need not be there on this machine, so each is made in a
	// parent that is empty and in memory.
	for _, parent := range []string{"/var/lib", "/var/log"} {
		if err := mount("tmpfs", parent, "tmpfs", 0); err != nil {
			return err
		}
	}
	for source, target := range map[string]string{"kubelet": "/var/lib/kubelet", "logs": "/var/log/pods"} {
		if err := os.MkdirAll(target, 0o700); err != nil {
			return err
		}
		if err := mount(filepath.Join(folder, source), target, "", syscall.MS_BIND); err != nil {
			return err
		}
	}
	return os.MkdirAll("/var/log/containers", 0o700)
}

func mount(source, target, kind string, flags uintptr) error {
	if err := syscall.Mount(source, target, kind, flags, ""); err != nil {
		return fmt.Errorf("mount %s: %w", target, err)
	}
	return nil
}
