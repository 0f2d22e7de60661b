/** Objects of a hub as the commands read them. */
import type { Cluster, Pipeline, Release } from '../../../src/api/generated/types.ts';

export const NOW = new Date('2030-01-01T12:00:00Z');
export const COMMIT = 'a'.repeat(40);
export const OLD_COMMIT = 'b'.repeat(40);

/** The health of a row of `kubenode status`. */
export const HEALTHY = { health: 'Healthy', incidents: [] } as const;

export const cluster = (sync: object, name = 'prod'): Cluster =>
  ({
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Cluster',
    metadata: { name },
    spec: { pauses: [] },
    status: { sync, conditions: [{ type: 'Synced', status: 'True' }] },
  }) as never;
export const pipeline = (status: object): Pipeline =>
  ({
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Pipeline',
    metadata: { name: 'fleet', annotations: { 'kubenode.dev/commit': COMMIT } },
    spec: { stages: [{ name: 'test' }, { name: 'prod' }] },
    status,
  }) as never;
export const release = (status: object, commit = COMMIT): Release =>
  ({
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Release',
    metadata: { name: `fleet-${commit.slice(0, 12)}`, creationTimestamp: '2030-01-01T11:50:00Z' },
    spec: {
      pipeline: 'fleet',
      commit,
      subject: 'shop 1.1',
      author: 'Ann',
      committedAt: '2030-01-01T11:00:00Z',
      plan: { digest: 'sha256:0', clusters: 3, changed: 2, deletes: 1 },
    },
    status,
  }) as never;
