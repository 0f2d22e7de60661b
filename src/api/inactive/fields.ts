/**
 * The fields of every kind that this version does not act on, each with the reason: the only list of them. A field that does
 * nothing would be taken for protection, so sync and `kubenode validate` refuse it, and the controller of the kind reports it
 * where it was applied past sync. docs/reference/fields.md names who reads every other field.
 */
import { DEFENDER_POLICY } from './defenderpolicy.ts';
import type { InactiveField } from './field.ts';
import { HOSTED } from './hosted.ts';

const NOT_HOSTED = 'only a control plane of spec.hosted is deleted with its Cluster';

const CLUSTER: readonly InactiveField[] = [
  { path: 'spec.deletion.policy', accepts: ['Delete'], because: NOT_HOSTED, unless: ['spec.hosted'] },
  { path: 'spec.deletion.force', accepts: [false], because: NOT_HOSTED, unless: ['spec.hosted'] },
  { path: 'spec.deletion.timeoutSeconds', accepts: [1800], because: NOT_HOSTED, unless: ['spec.hosted'] },
  ...HOSTED,
];

const NO_CLEANUP = 'only hosts that were reached over SSH are cleaned';

const MACHINE: readonly InactiveField[] = [
  {
    path: 'spec.deletion.cleanup',
    accepts: ['Restore'],
    because: NO_CLEANUP,
    unless: ['spec.import', 'spec.infra.config.pool'],
  },
];

const MACHINE_SET: readonly InactiveField[] = [
  {
    path: 'spec.template.deletion.cleanup',
    accepts: ['Restore'],
    because: NO_CLEANUP,
    unless: ['spec.template.infra.config.pool'],
  },
  {
    path: 'spec.updateStrategy.maxUnavailable',
    accepts: [1],
    whenNot: ['type', 'Replace'],
    because: 'only the type Replace makes machines unavailable',
  },
];

const ONLY_MACHINES =
  'a machine whose builtin health is bad has failed, and spec.rollout.failure limits how many may';

const MACHINE_COMPONENT_SET: readonly InactiveField[] = [
  {
    path: 'spec.rollout.gate.checks[].failureLimit',
    accepts: [0],
    whenSet: 'builtin',
    because: ONLY_MACHINES,
  },
  {
    path: 'spec.rollout.gate.checks[].consecutiveSuccess',
    accepts: [1],
    whenSet: 'builtin',
    because: 'builtin health has to be good during the whole soak',
  },
];

export const INACTIVE_FIELDS: Readonly<Record<string, readonly InactiveField[]>> = {
  Cluster: CLUSTER,
  Machine: MACHINE,
  MachineSet: MACHINE_SET,
  MachineComponentSet: MACHINE_COMPONENT_SET,
  DefenderPolicy: DEFENDER_POLICY,
};
