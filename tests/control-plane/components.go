package main

// The parts of Kubernetes, as their own programs start them.

import (
	"context"
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserverapp "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllersapp "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	schedulerapp "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubeletapp "k8s.io/kubernetes/cmd/kubelet/app"
)

func etcd([]string) int {
	etcdmain.Main(os.Args)
	return 0
}

func apiServer([]string) int {
	return cli.Run(apiserverapp.NewAPIServerCommand())
}

func controllerManager([]string) int {
	return cli.Run(controllersapp.NewControllerManagerCommand())
}

func scheduler([]string) int {
	return cli.Run(schedulerapp.NewSchedulerCommand())
}

// Only `kubelet` in `node.go` calls it, in a place that it may change.
func runKubelet() int {
	return cli.Run(kubeletapp.NewKubeletCommand(context.Background()))
}
