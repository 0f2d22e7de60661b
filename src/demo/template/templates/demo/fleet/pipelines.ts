/** The stages of every commit: test, then pre, then prod. */
import type { PipelineSpec } from 'kubenode/constructs';

export const fleetPipeline: PipelineSpec = {
  source: {
    repository: 'https://git.example.com/platform/fleet',
    ref: 'refs/heads/main',
    credentialsRef: { name: 'fleet-repository' },
    pollSeconds: 2,
  },
  // Shortened for a demonstration: use minutes to hours for machines that matter.
  stages: [
    { name: 'test', clusterSelector: environment('test'), soakSeconds: 3 },
    { name: 'pre', clusterSelector: environment('pre'), soakSeconds: 3 },
    { name: 'prod', clusterSelector: environment('prod'), soakSeconds: 3 },
  ],
};

function environment(name: string): PipelineSpec['stages'][number]['clusterSelector'] {
  return { matchLabels: { 'kubenode.dev/environment': name } };
}
