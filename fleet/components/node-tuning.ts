import type { MachineComponentSpec } from 'kubenode/constructs';

const SYSCTLS = '/etc/sysctl.d/90-kubenode.conf';
const MODULES = ['overlay', 'br_netfilter'];

/** The settings of net.bridge exist once br_netfilter is loaded. */
const SETTINGS = `fs.inotify.max_user_instances = 8192
fs.inotify.max_user_watches = 524288
kernel.panic = 10
kernel.panic_on_oops = 1
net.bridge.bridge-nf-call-ip6tables = 1
net.bridge.bridge-nf-call-iptables = 1
net.ipv4.ip_forward = 1
vm.overcommit_memory = 1
`;

/** Kernel modules and settings: files, which systemd reads at boot, and a command, without an artifact. */
export const nodeTuning: MachineComponentSpec = {
  component: 'node-tuning',
  version: '1.1.0',
  description: 'Kernel modules and settings of a node',
  files: [
    {
      path: '/etc/modules-load.d/90-kubenode.conf',
      content: `${MODULES.join('\n')}\n`,
      onChange: 'Reload',
    },
    { path: SYSCTLS, content: SETTINGS, onChange: 'Reload' },
  ],
  units: [
    {
      name: 'node-tuning',
      type: 'OneShot',
      exec: { argv: ['/bin/sh', '-c', `modprobe --all ${MODULES.join(' ')} && sysctl --load=${SYSCTLS}`] },
      timeoutSeconds: 30,
    },
  ],
  probes: [{ name: 'applied', unit: { name: 'node-tuning' } }],
  activation: { class: 'None' },
  commitAfterSeconds: 5,
};
