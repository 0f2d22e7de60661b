// One binary that is etcd, kube-apiserver, kube-controller-manager and kube-scheduler of the minor version before that of the control
// plane, chosen by the name that it is called by. It is built from the upstream modules, unchanged: the version that tests upgrade from.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	commands := map[string]func() *cobra.Command{
		"kube-apiserver":          apiserver.NewAPIServerCommand,
		"kube-controller-manager": controllermanager.NewControllerManagerCommand,
		"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	}
	name := filepath.Base(os.Args[0])
	if name == "etcd" {
		etcdmain.Main(os.Args)
		return
	}
	command, found := commands[name]
	if !found {
		fmt.Fprintf(os.Stderr, "%s: call this by one of its names: etcd, kube-apiserver, kube-controller-manager, kube-scheduler\n", strings.TrimSpace(name))
		os.Exit(64)
	}
	os.Exit(cli.Run(command()))
}
