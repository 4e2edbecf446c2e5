package main

// A device plugin, and a client of the kubelet's PodResources service.

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	deviceplugin "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"
)

// A plugin offers devices of one resource. On stdin it is told `healthy ID` and `unhealthy ID`, and ends when stdin is
// closed; on stdout it tells what the kubelet asked of it, as one line of JSON each: `{"call": …, "devices": […]}`.
type plugin struct {
	deviceplugin.UnimplementedDevicePluginServer
	resource string
	server   *grpc.Server
	lock     sync.Mutex
	devices  []*deviceplugin.Device
	// Closed and replaced when the devices change.
	changed chan struct{}
}

func devicePlugin(arguments []string) int {
	flags := flag.NewFlagSet("device-plugin", flag.ExitOnError)
	folder := flags.String("folder", deviceplugin.DevicePluginPath, "the kubelet's folder of device plugins")
	resource := flags.String("resource", "", "the name of the resource, such as example.com/slice")
	devices := flags.String("devices", "", "identifiers, with commas between")
	_ = flags.Parse(arguments)
	plugin := &plugin{resource: *resource, changed: make(chan struct{})}
	for identifier := range strings.SplitSeq(*devices, ",") {
		plugin.devices = append(plugin.devices, &deviceplugin.Device{ID: identifier, Health: deviceplugin.Healthy})
	}
	if err := plugin.serve(*folder); err != nil {
		fmt.Fprintln(os.Stderr, "device-plugin:", err)
		return 1
	}
	return 0
}

func (plugin *plugin) serve(folder string) error {
	endpoint := strings.ReplaceAll(plugin.resource, "/", "_") + ".sock"
	registration := filepath.Join(folder, "kubelet.sock")
	failed := make(chan error, 1)
	go func() {
		var known os.FileInfo
		for ; ; time.Sleep(50 * time.Millisecond) {
			// A kubelet that starts removes the plugins' sockets and makes its own anew: that is when a plugin has to
			// begin again.
			socket, err := os.Stat(registration)
			if err != nil || (known != nil && os.SameFile(known, socket) && known.ModTime().Equal(socket.ModTime())) {
				continue
			}
			if err := plugin.listen(filepath.Join(folder, endpoint)); err != nil {
				failed <- err
				return
			}
			if err := plugin.register(registration, endpoint); err == nil {
				known = socket
				plugin.tell("Register", nil)
			}
		}
	}()
	go func() {
		scanner := bufio.NewScanner(os.Stdin)
		for scanner.Scan() {
			if err := plugin.command(scanner.Text()); err != nil {
				failed <- err
				return
			}
		}
		failed <- nil
	}()
	return <-failed
}

func (plugin *plugin) listen(socket string) error {
	if plugin.server != nil {
		plugin.server.Stop()
	}
	_ = os.Remove(socket)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	plugin.server = server
	deviceplugin.RegisterDevicePluginServer(server, plugin)
	go func() { _ = server.Serve(listener) }()
	return nil
}

func dial(socket string) (*grpc.ClientConn, error) {
	return grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
}

func (plugin *plugin) register(socket, endpoint string) error {
	connection, err := dial(socket)
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err = deviceplugin.NewRegistrationClient(connection).Register(ctx, &deviceplugin.RegisterRequest{
		Version:      deviceplugin.Version,
		Endpoint:     endpoint,
		ResourceName: plugin.resource,
		Options:      &deviceplugin.DevicePluginOptions{PreStartRequired: true, GetPreferredAllocationAvailable: true},
	})
	return err
}

func (plugin *plugin) command(line string) error {
	words := strings.Fields(line)
	health := map[string]string{"healthy": deviceplugin.Healthy, "unhealthy": deviceplugin.Unhealthy}
	if len(words) != 2 || health[words[0]] == "" {
		return errors.New("expected `healthy ID` or `unhealthy ID`")
	}
	plugin.lock.Lock()
	defer plugin.lock.Unlock()
	for index, device := range plugin.devices {
		if device.ID == words[1] {
			// The old one may be on its way to the kubelet.
			plugin.devices[index] = &deviceplugin.Device{ID: device.ID, Health: health[words[0]]}
			close(plugin.changed)
			plugin.changed = make(chan struct{})
			return nil
		}
	}
	return fmt.Errorf("there is no device %s", words[1])
}

func (plugin *plugin) tell(call string, devices []string) {
	plugin.lock.Lock()
	defer plugin.lock.Unlock()
	answer(map[string]any{"call": call, "devices": devices})
}

func (plugin *plugin) GetDevicePluginOptions(context.Context, *deviceplugin.Empty) (*deviceplugin.DevicePluginOptions, error) {
	return &deviceplugin.DevicePluginOptions{PreStartRequired: true, GetPreferredAllocationAvailable: true}, nil
}

func (plugin *plugin) ListAndWatch(_ *deviceplugin.Empty, stream grpc.ServerStreamingServer[deviceplugin.ListAndWatchResponse]) error {
	for {
		plugin.lock.Lock()
		devices, changed := slices.Clone(plugin.devices), plugin.changed
		plugin.lock.Unlock()
		if err := stream.Send(&deviceplugin.ListAndWatchResponse{Devices: devices}); err != nil {
			return err
		}
		select {
		case <-changed:
		case <-stream.Context().Done():
			return nil
		}
	}
}

// Prefers the last devices by name: the kubelet itself takes the first that it finds.
func (plugin *plugin) GetPreferredAllocation(_ context.Context, request *deviceplugin.PreferredAllocationRequest) (*deviceplugin.PreferredAllocationResponse, error) {
	response := &deviceplugin.PreferredAllocationResponse{}
	for _, container := range request.ContainerRequests {
		preferred := slices.Clone(container.MustIncludeDeviceIDs)
		available := slices.Clone(container.AvailableDeviceIDs)
		slices.Sort(available)
		slices.Reverse(available)
		for _, device := range available {
			if len(preferred) < int(container.AllocationSize) && !slices.Contains(preferred, device) {
				preferred = append(preferred, device)
			}
		}
		plugin.tell("GetPreferredAllocation", preferred)
		response.ContainerResponses = append(response.ContainerResponses, &deviceplugin.ContainerPreferredAllocationResponse{DeviceIDs: preferred})
	}
	return response, nil
}

// Answers with one of everything that a plugin can ask for.
func (plugin *plugin) Allocate(_ context.Context, request *deviceplugin.AllocateRequest) (*deviceplugin.AllocateResponse, error) {
	response := &deviceplugin.AllocateResponse{}
	for _, container := range request.ContainerRequests {
		plugin.tell("Allocate", container.DevicesIds)
		given := &deviceplugin.ContainerAllocateResponse{
			Envs:        map[string]string{"EXAMPLE_DEVICES": strings.Join(container.DevicesIds, ",")},
			Annotations: map[string]string{"example.com/devices": strings.Join(container.DevicesIds, ",")},
			Mounts:      []*deviceplugin.Mount{{ContainerPath: "/run/example", HostPath: "/run/example", ReadOnly: true}},
		}
		for _, device := range container.DevicesIds {
			given.CdiDevices = append(given.CdiDevices, &deviceplugin.CDIDevice{Name: "example.com/device=" + device})
		}
		response.ContainerResponses = append(response.ContainerResponses, given)
	}
	return response, nil
}

func (plugin *plugin) PreStartContainer(_ context.Context, request *deviceplugin.PreStartContainerRequest) (*deviceplugin.PreStartContainerResponse, error) {
	plugin.tell("PreStartContainer", request.DevicesIds)
	return &deviceplugin.PreStartContainerResponse{}, nil
}

// Prints, as JSON, what the kubelet behind a socket says of its pods' and of its own devices.
func podResources(arguments []string) int {
	if len(arguments) != 1 {
		fmt.Fprintln(os.Stderr, "usage: pod-resources SOCKET")
		return 2
	}
	if err := printPodResources(arguments[0]); err != nil {
		fmt.Fprintln(os.Stderr, "pod-resources:", err)
		return 1
	}
	return 0
}

func printPodResources(socket string) error {
	connection, err := dial(socket)
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	client := podresources.NewPodResourcesListerClient(connection)
	pods, err := client.List(ctx, &podresources.ListPodResourcesRequest{})
	if err != nil {
		return err
	}
	allocatable, err := client.GetAllocatableResources(ctx, &podresources.AllocatableResourcesRequest{})
	if err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{"pods": pods.PodResources, "allocatable": allocatable.Devices})
	if err != nil {
		return err
	}
	fmt.Println(string(text))
	return nil
}
