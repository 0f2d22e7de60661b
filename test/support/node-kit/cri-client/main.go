// What crictl does with a container runtime, as far as CleanDisk asks for it, over the same API and with the same JSON:
// crictl itself comes with no package, and its module is not in the checksum database of Go.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

const endpoint = "unix:///run/containerd/containerd.sock"

func main() {
	// As crictl does without a configuration.
	fmt.Fprintln(os.Stderr, `level=warning msg="Config \"/etc/crictl.yaml\" does not exist, trying default endpoints"`)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := run(ctx, strings.Join(os.Args[1:], " ")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, command string) error {
	connection, err := grpc.NewClient(endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	images, containers := cri.NewImageServiceClient(connection), cri.NewRuntimeServiceClient(connection)
	words := strings.Fields(command)
	switch {
	case command == "version":
		answer, err := containers.Version(ctx, &cri.VersionRequest{})
		return show(answer, err)
	case command == "images --output json":
		answer, err := images.ListImages(ctx, &cri.ListImagesRequest{})
		return show(answer, err)
	case command == "ps --all --output json":
		answer, err := containers.ListContainers(ctx, &cri.ListContainersRequest{})
		return show(answer, err)
	case len(words) == 2 && words[0] == "rmi":
		_, err := images.RemoveImage(ctx, &cri.RemoveImageRequest{Image: &cri.ImageSpec{Image: words[1]}})
		return err
	case len(words) == 2 && words[0] == "rm":
		_, err := containers.RemoveContainer(ctx, &cri.RemoveContainerRequest{ContainerId: words[1]})
		return err
	}
	return fmt.Errorf("unknown command: %s", command)
}

func show(answer proto.Message, err error) error {
	if err != nil {
		return err
	}
	text, err := protojson.MarshalOptions{EmitUnpopulated: true, Multiline: true}.Marshal(answer)
	fmt.Println(string(text))
	return err
}
