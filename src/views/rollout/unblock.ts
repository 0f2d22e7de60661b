/** Describes what ends the wait or the stop of a rollout. Pure. */
import type { MachineComponentSet } from '../../api/generated/types.ts';
import { conditionOf } from '../../kube/objects/conditions.ts';
import { unblockHint } from '../fleet/unblock.ts';
import { rolloutOutcome } from './outcome.ts';

export function unblockOf(set: MachineComponentSet): string {
  const { waiting, conditions } = set.status ?? {};
  if (rolloutOutcome(set).state === 'Completed') return '';
  const stop = ['Stalled', 'Conflict']
    .map((type) => conditionOf(conditions, type))
    .find((condition) => condition?.status === 'True');
  const wait = waiting ?? stop;
  return wait ? unblockHint(wait, set.metadata.name) : '';
}
