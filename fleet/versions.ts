/** The component versions on the machines. An update is one line here; the pipeline promotes it through test, pre and prod. */
export const versions = {
  'cni-plugins': '1.9.1',
  containerd: '2.3.4',
  crictl: '1.36.0',
  kubelet: '1.36.3',
  'node-exporter': '1.9.1',
  'node-tuning': '1.1.0',
  'problem-detector': '1.1.0',
  runc: '1.4.3',
} as const;
