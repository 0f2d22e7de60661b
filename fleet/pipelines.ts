/** The stages of every commit: all test clusters at once, then pre, then prod, one cluster at a time. */
import type { PipelineSpec } from 'kubenode/constructs';

export const fleetPipeline: PipelineSpec = {
  source: {
    repository: 'https://git.example.com/platform/fleet',
    ref: 'refs/heads/main',
    credentialsRef: { name: 'fleet-repository' },
  },
  stages: [
    { name: 'test', clusterSelector: environment('test'), maxConcurrentClusters: '100%', soakSeconds: 60 },
    {
      name: 'pre',
      clusterSelector: environment('pre'),
      soakSeconds: 1800,
      checks: [{ name: 'health', builtin: {} }],
    },
    {
      name: 'prod',
      clusterSelector: environment('prod'),
      maxConcurrentClusters: 1,
      soakSeconds: 3600,
      checks: [{ name: 'health', builtin: {} }],
    },
  ],
};

function environment(name: string): PipelineSpec['stages'][number]['clusterSelector'] {
  return { matchLabels: { 'kubenode.dev/environment': name } };
}
