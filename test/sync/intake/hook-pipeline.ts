/** A Pipeline with a webhook, for tests. */
import type { Pipeline } from '../../../src/api/generated/types.ts';

export function hookPipeline(name = 'fleet'): Pipeline {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Pipeline',
    metadata: { name },
    spec: {
      source: {
        repository: 'https://git.example.com/fleet.git',
        ref: 'refs/heads/main',
        webhookSecretRef: { name: 'hook' },
      },
    },
  } as unknown as Pipeline;
}
