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

const NO_COMPATIBILITY = 'no version is compared with it';

const MACHINE_COMPONENT: readonly InactiveField[] = [
  { path: 'spec.compat.kubernetes', because: NO_COMPATIBILITY },
  { path: 'spec.compat.upgradeFrom', because: NO_COMPATIBILITY },
  { path: 'spec.compat.kernelMin', because: NO_COMPATIBILITY },
];

const ONLY_BUILTIN = 'a batch is checked by builtin health only';

const ONLY_MACHINES =
  'a machine whose builtin health is bad has failed, and spec.rollout.failure limits how many may';

const MACHINE_COMPONENT_SET: readonly InactiveField[] = [
  { path: 'spec.rollout.partition', accepts: [0], because: 'every selected machine gets the revision' },
  { path: 'spec.rollout.spread', because: 'updates are not counted by domain' },
  { path: 'spec.rollout.gate.checks[].http', because: ONLY_BUILTIN },
  { path: 'spec.rollout.gate.checks[].promql', because: ONLY_BUILTIN },
  { path: 'spec.rollout.gate.checks[].failureLimit', accepts: [0], because: ONLY_MACHINES },
];

export const INACTIVE_FIELDS: Readonly<Record<string, readonly InactiveField[]>> = {
  Cluster: CLUSTER,
  Machine: MACHINE,
  MachineSet: MACHINE_SET,
  MachineComponent: MACHINE_COMPONENT,
  MachineComponentSet: MACHINE_COMPONENT_SET,
  DefenderPolicy: DEFENDER_POLICY,
};
