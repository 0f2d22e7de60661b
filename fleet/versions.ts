/** What runs on the machines. A bump is one line here; it goes through test, pre and prod by itself. */
export const versions = {
  kubelet: '1.36.3',
  'node-exporter': '1.8.2',
  'node-tuning': '1.0.0',
} as const;
