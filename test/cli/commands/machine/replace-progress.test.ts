import { describe, expect, it } from 'vitest';
import type { MachineSet } from '../../../../src/api/generated/types.ts';
import {
  replaceableSet,
  replacementProgress,
} from '../../../../src/cli/commands/machine/replace-progress.ts';
import { ago, type MachineParts, machine, NOW } from '../../../support/builders.ts';
import { machineSet } from '../../../support/machine-sets.ts';

const OWNER = {
  apiVersion: 'kubenode.dev/v1alpha1',
  kind: 'MachineSet',
  name: 'web',
  uid: 'u',
  controller: true,
};

describe('replaceableSet', () => {
  it('returns the set that owns the machine', () => {
    expect(replaceableSet(machine('m', { metadata: { ownerReferences: [OWNER] } }), NOW)).toBe('web');
  });

  it.each<[name: string, parts: MachineParts, message: string]>([
    ['without a set', {}, 'Machine m belongs to no MachineSet'],
    [
      'that another kind owns',
      { metadata: { ownerReferences: [{ ...OWNER, kind: 'Other' }] } },
      'Machine m belongs to no MachineSet',
    ],
    [
      'that is held',
      { metadata: { ownerReferences: [OWNER] }, spec: { hold: { reason: 'disks', scope: 'All' } } },
      'Machine m is held: disks',
    ],
  ])('refuses a machine %s', (_, parts, message) => {
    expect(() => replaceableSet(machine('m', parts), NOW)).toThrow(message);
  });
});

it.each([
  [
    'clusterapi',
    { namespace: 'fleet', name: 'md-1', providerID: 'i://1' },
    'Machine fleet/md-1 of Cluster API',
  ],
  [
    'external',
    { kind: 'NodeClaim', name: 'general-1', providerID: 'i://1' },
    'NodeClaim general-1 of Karpenter',
  ],
  ['clusterapi', {}, 'its machine in the other system'],
] as const)('names who replaces a machine of provider %s with %j', (provider, config, text) => {
  const followed = machine('m', { spec: { infra: { provider, config } } });
  expect(() => replaceableSet(followed, NOW)).toThrow(
    expect.objectContaining({ hint: `delete ${text}: the system that owns it makes another one` }),
  );
});

function set(status: Partial<NonNullable<MachineSet['status']>>): MachineSet {
  return machineSet(3, { status });
}

describe('replacementProgress', () => {
  const planned = { type: 'Replace', machines: 1, names: ['m'], because: 'waits for web-2' } as const;

  it.each<[name: string, parts: MachineParts | undefined, found: MachineSet | undefined, want: string]>([
    [
      'its turn',
      {},
      set({ availableReplicas: 3 }),
      'false waits for its turn; 3 of 3 machines are available',
    ],
    ['what the set shows', {}, set({ plannedAction: planned }), 'false waits for web-2'],
    [
      'why the set waits',
      {},
      set({ waiting: { reason: 'GrantDenied', since: ago(1), message: 'KillSwitch' } }),
      'false GrantDenied: KillSwitch',
    ],
    [
      'its drain',
      {
        metadata: { deletionTimestamp: ago(1) },
        status: { waiting: { reason: 'PodDisruptionBudget', since: ago(1), message: 'shop/cart' } },
      },
      set({}),
      'false the machine is being deleted: PodDisruptionBudget: shop/cart',
    ],
    [
      'the new machine',
      undefined,
      set({ availableReplicas: 2 }),
      'false the machine was deleted; 2 of 3 machines are available',
    ],
    [
      'its end',
      undefined,
      set({ availableReplicas: 3 }),
      'true the machine was deleted; 3 of 3 machines are available',
    ],
    ['a set that was deleted', {}, undefined, 'false the MachineSet does not exist any more'],
  ])('tells %s', (_, parts, found, want) => {
    const { isDone, text } = replacementProgress(parts && machine('m', parts), found);
    expect(`${isDone} ${text}`).toBe(want);
  });
});
