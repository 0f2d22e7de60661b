/** A valid MachineComponentSet with the defaults of the API: a test overrides what it is about. */
import type { MachineComponentSet, Rollout } from '../../../src/api/generated/types.ts';
import type { Metadata } from '../../../src/kube/objects/object.ts';

export interface SetParts {
  readonly metadata?: Partial<Metadata>;
  readonly spec?: Partial<Omit<MachineComponentSet['spec'], 'rollout'>>;
  readonly rollout?: Partial<Rollout>;
  readonly status?: MachineComponentSet['status'];
}

export const ROLLOUT: Rollout = {
  batches: [1, 5, 10, 50, 100],
  repeatLast: true,
  maxUnavailable: '10%',
  preferUnhealthy: true,
  partition: 0,
  newMachinePolicy: 'Stable',
  gate: { soakSeconds: 300, checks: [], approval: 'None' },
  failure: { maxFailed: 0, per: 'Rollout', onFailure: 'RollbackBatch' },
  windows: [],
  freezes: [],
  machineTimeoutSeconds: 900,
  progressDeadlineSeconds: 7200,
};

export function componentSet(
  name: string,
  { metadata = {}, spec = {}, rollout = {}, status }: SetParts = {},
): MachineComponentSet {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'MachineComponentSet',
    metadata: { generation: 1, uid: `uid-${name}`, ...metadata, name },
    spec: {
      machineSelector: { all: true },
      components: [],
      paused: false,
      dryRun: false,
      ...spec,
      rollout: { ...ROLLOUT, ...rollout },
    },
    ...(status ? { status } : {}),
  };
}
