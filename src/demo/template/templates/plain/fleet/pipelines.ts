/** The stages of every commit: test, then pre, then prod. */
import type { PipelineSpec } from 'kubenode/constructs';

export const fleetPipeline: PipelineSpec = {
  source: {
    repository: 'https://git.example.com/platform/fleet',
    ref: 'refs/heads/main',
    credentialsRef: { name: 'fleet-repository' },
    pollSeconds: 5,
  },
  // Short soak times for evaluation. Increase them for production.
  stages: [
    { name: 'test', clusterSelector: environment('test'), soakSeconds: 10 },
    { name: 'pre', clusterSelector: environment('pre'), soakSeconds: 20 },
    { name: 'prod', clusterSelector: environment('prod'), soakSeconds: 30 },
  ],
};

function environment(name: string): PipelineSpec['stages'][number]['clusterSelector'] {
  return { matchLabels: { 'kubenode.dev/environment': name } };
}
