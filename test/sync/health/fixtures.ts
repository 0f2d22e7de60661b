/**
 * Builders for the tables of object sets and their health. Sync tests that it reads them so; the controllers of kubenode's own
 * kinds can test against the same tables that they write their conditions so.
 */
import type { Condition } from '../../../src/api/generated/types.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import type { AppliedObject } from '../../../src/sync/health/health.ts';

export interface HealthFixture {
  readonly name: string;
  readonly objects: readonly AppliedObject[];
  readonly answer: 'Settled' | 'Progressing' | 'Failed' | 'Unknown';
  readonly reason?: string;
  readonly because: string;
}

/** `Ready`, `Ready=False RolledBack`, `Stalled@1` (observedGeneration 1). */
function conditions(words: string): Condition[] {
  return words
    .split(', ')
    .filter((word) => word !== '')
    .map((word) => {
      const [, type = '', status = 'True', generation, reason = 'AsItIs'] =
        /^(\w+)(?:=(\w+))?(?:@(\d+))?(?: (\w+))?$/.exec(word) ?? [];
      return {
        type,
        status: status as Condition['status'],
        observedGeneration: Number(generation ?? 2),
        reason,
        message: reason === 'AsItIs' ? '' : `it is ${reason}`,
        lastTransitionTime: '2030-01-01T00:00:00Z',
      };
    });
}

/** A kubenode kind, applied as generation 2. */
export function kubenodeObject(
  kind: string,
  words: string,
  { observed = 2, name = 'a' }: { readonly observed?: number | 'Never'; readonly name?: string } = {},
): AppliedObject {
  const generation = observed === 'Never' ? {} : { observedGeneration: observed };
  const status = { ...generation, conditions: conditions(words) };
  return applied({ apiVersion: 'kubenode.dev/v1alpha1', kind, metadata: { name, generation: 2 }, status });
}

export function applied(observed: KubeObject, generation = observed.metadata.generation ?? 1): AppliedObject {
  const { apiVersion, kind, metadata } = observed;
  const { name, namespace } = metadata;
  return { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }), generation, observed };
}

export function otherObject(type: string, spec: object, status: object, words = ''): AppliedObject {
  const [apiVersion = '', kind = ''] = type.split(' ');
  const reported = words === '' ? {} : { conditions: conditions(words) };
  const metadata = { name: 'a', namespace: 'web', generation: 2 };
  return applied({ apiVersion, kind, metadata, spec, status: { ...status, ...reported } });
}
