/**
 * Denies what people stopped: everything by the kill switch (R25), a machine by a hold or a label, a hosted control plane by its
 * pause. The kill switch holds in every mode of its policy.
 */
import type { KillSwitch, MachineHold } from '../../api/generated/types.ts';
import type { DenialCause } from '../../api/grants.ts';
import { stopText } from '../../api/status/pauses.ts';
import type { PreparedPolicy } from '../policies/prepare.ts';
import type { AskGuard, GuardInput, PolicyGuard } from './guard.ts';

const SCOPES = ['All', 'Remedy', 'Rollout'] as const;
const HOLDERS = { Remedy: 'RemedyOperationJob', Rollout: 'MachineComponentSet' } as const;

export const killSwitch: PolicyGuard = {
  id: 'kill-switch',
  reasons: ['KillSwitch'],
  proof: { promise: 'an act while stopped', seed: 2 },
  skippedByRecovery: false,
  checkedAtRenewal: true,
  checkPolicy: checkKillSwitch,
};

function checkKillSwitch(input: GuardInput, { spec }: PreparedPolicy): readonly DenialCause[] {
  return stopCauses(spec.killSwitch, input, 'kill switch engaged');
}

/** Returns the denial for what the switch stops. The hub has one of its own for all of its clusters. */
export function stopCauses(
  stop: KillSwitch,
  { ask, now }: Pick<GuardInput, 'ask' | 'now'>,
  what: string,
): readonly DenialCause[] {
  const scopes = SCOPES.filter((scope) => scope === 'All' || ask.holder.kind === HOLDERS[scope]);
  const text = stopText(stop, scopes, now);
  if (text === undefined) return [];
  const { until } = stop;
  const ends = until === undefined ? {} : { until: new Date(until) };
  return [{ reason: 'KillSwitch', message: `${what} by ${text}`, ...ends }];
}

export const held: AskGuard = {
  id: 'held',
  reasons: ['ClusterPaused', 'HumanHold', 'NodeExcluded'],
  proof: { promise: 'an act on a held machine', seed: 1 },
  skippedByRecovery: false,
  checkedAtRenewal: true,
  check: checkHeld,
};

function checkHeld(input: GuardInput): readonly DenialCause[] {
  const { machine, ask } = input;
  const paused = { reason: 'ClusterPaused', message: `${machine.name} is paused` } as const;
  const excluded = {
    reason: 'NodeExcluded',
    message: `machine ${machine.name} has the label kubenode.dev/exclude`,
  } as const;
  return [
    ...(machine.paused ? [paused] : []),
    ...(machine.holds ?? []).flatMap((hold) => holdCause(input, hold)),
    ...(machine.excluded && ask.risk !== 'None' ? [excluded] : []),
  ];
}

function holdCause({ machine: { name }, ask, now }: GuardInput, hold: MachineHold): readonly DenialCause[] {
  if (hold.scope === 'Disruptive' && ask.risk === 'None') return [];
  const until = hold.until === undefined ? undefined : new Date(hold.until);
  if (until && until <= now) return [];
  const message = `machine ${name} is held: ${hold.reason}`;
  return [{ reason: 'HumanHold', message, ...(until ? { until } : {}) }];
}
