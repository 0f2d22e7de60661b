/** The stages of every commit. Add a stage before this one for a cluster in which changes are tried first. */
import type { PipelineSpec } from 'kubenode/constructs';

export const fleetPipeline: PipelineSpec = {
  source: {
    repository: 'https://git.example.com/platform/fleet',
    ref: 'refs/heads/main',
    credentialsRef: { name: 'fleet-repository' },
  },
  stages: [{ name: 'prod', clusterSelector: { matchLabels: { 'kubenode.dev/environment': 'prod' } } }],
};
