package main

// A container runtime without containers: Kubernetes' own fake, with what it lacks. It runs as a process of its own, so
// that a kubelet that restarts finds its containers again.
//
// What a container does is said by its environment variables:
//   - FAKE_LOG: lines that it writes to stdout when it starts;
//   - FAKE_EXIT: it ends at once, with this exit code. Without it, it runs until it is stopped.
//
// Images from `missing.example/` cannot be pulled.

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-client/pkg/fake"
)

const (
	// The folder of logs, as the kubelet sees it.
	kubeletLogs   = "/var/log/pods"
	missingImages = "missing.example/"
)

type containerRuntime struct {
	*fake.RemoteRuntime
	// `kubeletLogs`, as this process sees it.
	logs string
	// Where the requests for containers are recorded.
	record *os.File
	lock   sync.Mutex
	// By the container's identifier.
	containers map[string]*cri.CreateContainerRequest
}

// Arguments: the socket, the folder of logs, the file for requests.
func fakeRuntime(arguments []string) int {
	if len(arguments) != 3 {
		fmt.Fprintln(os.Stderr, "usage: fake-cri SOCKET LOGS RECORD")
		return 2
	}
	if err := serveRuntime(arguments[0], arguments[1], arguments[2]); err != nil {
		fmt.Fprintln(os.Stderr, "fake-cri:", err)
		return 1
	}
	return 0
}

func serveRuntime(socket, logs, path string) error {
	record, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	// A socket of one that was killed is in the way.
	_ = os.Remove(socket)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	containers := map[string]*cri.CreateContainerRequest{}
	runtime := &containerRuntime{RemoteRuntime: fake.NewFakeRemoteRuntime(), logs: logs, record: record, containers: containers}
	runtime.RuntimeService.FakeStatus = &cri.RuntimeStatus{Conditions: []*cri.RuntimeCondition{
		{Type: cri.RuntimeReady, Status: true},
		{Type: cri.NetworkReady, Status: true},
	}}
	// A kubelet takes an image without a size for a fault of the runtime.
	runtime.ImageService.SetFakeImageSize(1 << 20)
	server := grpc.NewServer()
	cri.RegisterRuntimeServiceServer(server, runtime)
	cri.RegisterImageServiceServer(server, runtime)
	return server.Serve(listener)
}

func (runtime *containerRuntime) PullImage(ctx context.Context, request *cri.PullImageRequest) (*cri.PullImageResponse, error) {
	if image := request.GetImage().GetImage(); strings.HasPrefix(image, missingImages) {
		return nil, status.Errorf(codes.NotFound, "failed to pull image %q: not found", image)
	}
	return runtime.RemoteRuntime.PullImage(ctx, request)
}

func (runtime *containerRuntime) CreateContainer(ctx context.Context, request *cri.CreateContainerRequest) (*cri.CreateContainerResponse, error) {
	response, err := runtime.RemoteRuntime.CreateContainer(ctx, request)
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	runtime.lock.Lock()
	defer runtime.lock.Unlock()
	runtime.containers[response.ContainerId] = request
	_, err = runtime.record.Write(append(line, '\n'))
	return response, err
}

func (runtime *containerRuntime) StartContainer(ctx context.Context, request *cri.StartContainerRequest) (*cri.StartContainerResponse, error) {
	response, err := runtime.RemoteRuntime.StartContainer(ctx, request)
	if err != nil {
		return nil, err
	}
	created := runtime.created(request.ContainerId)
	if created == nil {
		return response, nil
	}
	if err := runtime.writeLog(created); err != nil {
		return nil, err
	}
	if text, set := environment(created, "FAKE_EXIT"); set {
		code, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return nil, status.Errorf(codes.InvalidArgument, "FAKE_EXIT: %v", err)
		}
		runtime.exit(request.ContainerId, int32(code))
	}
	return response, nil
}

// The kubelet removes the files of a container by the path of its log. The fake says none, and the kubelet would remove
// what is in its working folder.
func (runtime *containerRuntime) ContainerStatus(ctx context.Context, request *cri.ContainerStatusRequest) (*cri.ContainerStatusResponse, error) {
	response, err := runtime.RemoteRuntime.ContainerStatus(ctx, request)
	if err != nil {
		return nil, err
	}
	if created := runtime.created(request.ContainerId); created != nil {
		response.Status.LogPath = logPath(created)
	}
	if response.Status.LogPath == "" {
		return nil, status.Errorf(codes.Internal, "container %s has no log", request.ContainerId)
	}
	return response, nil
}

func (runtime *containerRuntime) RemoveContainer(ctx context.Context, request *cri.RemoveContainerRequest) (*cri.RemoveContainerResponse, error) {
	runtime.lock.Lock()
	delete(runtime.containers, request.ContainerId)
	runtime.lock.Unlock()
	return runtime.RemoteRuntime.RemoveContainer(ctx, request)
}

func (runtime *containerRuntime) created(container string) *cri.CreateContainerRequest {
	runtime.lock.Lock()
	defer runtime.lock.Unlock()
	return runtime.containers[container]
}

func (runtime *containerRuntime) exit(container string, code int32) {
	service := runtime.RuntimeService
	service.Lock()
	defer service.Unlock()
	if found, there := service.Containers[container]; there {
		found.State = cri.ContainerState_CONTAINER_EXITED
		found.ExitCode = code
		found.FinishedAt = time.Now().UnixNano()
		found.Reason = "Completed"
		if code != 0 {
			found.Reason = "Error"
		}
	}
}

func logPath(created *cri.CreateContainerRequest) string {
	return filepath.Join(created.GetSandboxConfig().GetLogDirectory(), created.GetConfig().GetLogPath())
}

// Writes the log of a container, in the form of the container runtime interface.
func (runtime *containerRuntime) writeLog(created *cri.CreateContainerRequest) error {
	inside, err := filepath.Rel(kubeletLogs, logPath(created))
	if err != nil || strings.HasPrefix(inside, "..") {
		return status.Errorf(codes.InvalidArgument, "a log at %s, outside %s", logPath(created), kubeletLogs)
	}
	path := filepath.Join(runtime.logs, inside)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	var text strings.Builder
	if lines, set := environment(created, "FAKE_LOG"); set {
		for line := range strings.SplitSeq(lines, "\n") {
			fmt.Fprintf(&text, "%s stdout F %s\n", time.Now().UTC().Format(time.RFC3339Nano), line)
		}
	}
	return os.WriteFile(path, []byte(text.String()), 0o644)
}

func environment(created *cri.CreateContainerRequest, name string) (string, bool) {
	for _, variable := range created.GetConfig().GetEnvs() {
		if variable.GetKey() == name {
			return string(variable.GetValue()), true
		}
	}
	return "", false
}
