import type { MachineComponentSpec } from 'kubenode/constructs';

/** Kernel settings: a file and a command, without an artifact. */
export const nodeTuning: MachineComponentSpec = {
  component: 'node-tuning',
  version: '1.0.0',
  description: 'Kernel settings of a node',
  files: [
    {
      path: '/etc/sysctl.d/90-kubenode.conf',
      content: 'fs.inotify.max_user_instances = 8192\nnet.ipv4.ip_forward = 1\nvm.overcommit_memory = 1\n',
      onChange: 'Reload',
    },
  ],
  units: [
    {
      name: 'node-tuning',
      type: 'OneShot',
      exec: { argv: ['/sbin/sysctl', '--system'] },
      timeoutSeconds: 30,
    },
  ],
  probes: [{ name: 'applied', unit: { name: 'node-tuning' } }],
  activation: { class: 'None' },
};
