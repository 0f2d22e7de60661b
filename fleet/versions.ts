/** The component versions on the machines. An update is one line here; the pipeline promotes it through test, pre and prod. */
export const versions = {
  kubelet: '1.36.3',
  'node-exporter': '1.8.2',
  'node-tuning': '1.0.0',
  'problem-detector': '1.0.0',
} as const;
