import { describe, expect, it } from 'vitest';
import type { MachineComponentSet } from '../../../../../src/api/generated/types.ts';
import { expectedComponents } from '../../../../../src/controllers/machine/instance/preflight/components.ts';
import { DESIRED, machine } from '../../../../support/builders.ts';

interface Changes {
  readonly spec?: object;
  readonly status?: object;
  readonly metadata?: object;
}

function setOf(names: readonly string[], { spec, status, metadata }: Changes = {}): MachineComponentSet {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'MachineComponentSet',
    metadata: { name: 's', generation: 2, ...metadata },
    spec: {
      machineSelector: { matchLabels: { pool: 'web' } },
      components: names.map((name) => ({ name, componentRef: `${name}-2.0.0`, state: 'Present' })),
      paused: false,
      dryRun: false,
      ...spec,
    },
    ...(status && { status }),
  } as unknown as MachineComponentSet;
}

function refs(sets: readonly MachineComponentSet[], components: readonly object[] = []): readonly string[] {
  const object = machine('m', {
    metadata: { labels: { pool: 'web' } },
    spec: { components: components as never },
  });
  return expectedComponents(object, sets).map(({ componentRef }) => componentRef);
}

const ENTRY = { name: 'web', componentRef: 'web-1.0.0', digest: DESIRED.digest, state: 'Present' };
const ROLLED_OUT = { observedGeneration: 2, currentRevision: 'r-2', updateRevision: 'r-2' };

describe('expectedComponents', () => {
  it.each<[string, Changes, readonly string[]]>([
    ['selects the machine and had no rollout yet', {}, ['web-2.0.0']],
    ['has rolled out its spec', { status: ROLLED_OUT }, ['web-2.0.0']],
    ['has its first rollout', { status: { observedGeneration: 2, updateRevision: 'r-2' } }, ['web-2.0.0']],
    ['is in the middle of a rollout', { status: { ...ROLLED_OUT, currentRevision: 'r-1' } }, []],
    ['was changed since', { status: { ...ROLLED_OUT, observedGeneration: 1 } }, []],
    ['does not select the machine', { spec: { machineSelector: { matchLabels: { pool: 'db' } } } }, []],
    ['is paused', { spec: { paused: true } }, []],
    ['is a dry run', { spec: { dryRun: true } }, []],
    ['is deleted', { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } }, []],
  ])('MAC-35 expects what a set assigns that %s', (_, changes, expected) => {
    expect(refs([setOf(['web'], changes)])).toEqual(expected);
  });

  it('MAC-35 expects the entries of the machine before those of a set, and none that is absent', () => {
    expect(refs([setOf(['web', 'log'])], [ENTRY])).toEqual(['web-1.0.0', 'log-2.0.0']);
    expect(refs([], [{ ...ENTRY, state: 'Absent' }])).toEqual([]);
    expect(refs([setOf(['web'])], [{ ...ENTRY, state: 'Absent' }])).toEqual([]);
  });
});
