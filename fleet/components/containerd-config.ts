/** The configuration of containerd 2, which is the same with cgroup v1 and v2. */
import { CNI_PROGRAMS } from './cni-plugins.ts';
import { RUNC } from './runc.ts';

export const CONTAINERD_SOCKET = '/run/containerd/containerd.sock';
export const NETWORK_TEMPLATE = '/etc/containerd/cni.template';
export const BRIDGE = 'cni0';

/** Other components may add files to conf.d, and mirrors of registries to certs.d. */
export const CONTAINERD_CONFIG = `version = 3
imports = ['/etc/containerd/conf.d/*.toml']

[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = '\${param.pauseImage}'

[plugins.'io.containerd.cri.v1.images'.registry]
  config_path = '/etc/containerd/certs.d'

[plugins.'io.containerd.cri.v1.runtime'.cni]
  bin_dirs = ['${CNI_PROGRAMS}']
  conf_dir = '/etc/cni/net.d'
  conf_template = '${NETWORK_TEMPLATE}'

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
  runtime_type = 'io.containerd.runc.v2'

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
  BinaryName = '${RUNC}'
  SystemdCgroup = \${param.systemdCgroup}
`;

/**
 * A bridge on each node with the addresses of its Node's \`spec.podCIDR\`, which containerd fills in: the Node becomes Ready when it has one.
 * The routes between nodes are those of the cloud or of the router. A CNI DaemonSet needs no template.
 */
export const NETWORK_CONFIG = `{
  "cniVersion": "1.0.0",
  "name": "pods",
  "plugins": [
    {
      "type": "bridge",
      "bridge": "${BRIDGE}",
      "isGateway": true,
      "ipMasq": true,
      "hairpinMode": true,
      "ipam": {
        "type": "host-local",
        "ranges": [{{range $i, $range := .PodCIDRRanges}}{{if $i}}, {{end}}[{"subnet": "{{$range}}"}]{{end}}],
        "routes": [{{range $i, $route := .Routes}}{{if $i}}, {{end}}{"dst": "{{$route}}"}{{end}}]
      }
    },
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
`;

/** As in the unit of the publisher: a restart of containerd leaves the containers alone. */
export const CONTAINERD_UNIT = `[Service]
Delegate=yes
KillMode=process
LimitNPROC=infinity
LimitCORE=infinity
TasksMax=infinity
OOMScoreAdjust=-999
`;
