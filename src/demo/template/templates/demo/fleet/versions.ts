/** The versions that run on the machines. An update is one line here; the pipeline brings it to test, pre and prod. */
export const versions = {
  kubelet: '1.35.0',
  'problem-detector': '1.0.0',
  web: '1.0.0',
} as const;
