/** R28: the Pods that an act evicts fit on other nodes, and enough of the cluster stays free. */
import { type DenialCause, isInFlight } from '../../api/grants.ts';
import { asksForCapacity } from '../capacity/asked.ts';
import { type PlacementInput, planPlacement } from '../capacity/place.ts';
import { reserveAfter } from '../capacity/reserve.ts';
import { isLapsed, takesNodeDown } from '../ledger/entries.ts';
import type { PreparedPolicy } from '../policies/prepare.ts';
import type { GuardInput, PolicyGuard } from './guard.ts';

/** Not at a renewal: a drain that has begun is finished, and its own Pods are on their way. */
export const capacity: PolicyGuard = {
  id: 'capacity',
  reasons: ['PodsFitNowhere', 'CapacityReserve', 'FactUnknown'],
  proof: { promise: 'an act whose Pods fit nowhere', seed: 2 },
  skippedByRecovery: false,
  checkedAtRenewal: false,
  checkPolicy: checkCapacity,
};

/** A node that is not Ready serves no Pods: its repair takes nothing away, and may bring capacity back. */
function checkCapacity(input: GuardInput, { spec }: PreparedPolicy): readonly DenialCause[] {
  const { ask, machine, facts } = input;
  const { simulateScheduling, minFreePercent } = spec.capacity;
  if (!asksForCapacity(spec.capacity) || !takesNodeDown(ask.risk) || machine.nodeUID === undefined) return [];
  if (machine.readiness !== 'Ready') return [];
  const known = facts.capacity;
  if (!known) {
    const message = 'Pods of the cluster were not observed: they were not listed yet, or cannot be read';
    return [{ reason: 'FactUnknown', message }];
  }
  const placement = { capacity: known, node: ask.machine, inWork: othersInWork(input) };
  return [
    ...(simulateScheduling ? misfits(placement) : []),
    ...Object.entries(minFreePercent).flatMap(([resource, least]) =>
      shortage(placement, { resource, least }),
    ),
  ];
}

/** A batch adds each grant to the ledger before it decides the next one, so these are known here too. */
function othersInWork({ ledger, ask, now }: GuardInput): readonly string[] {
  return Object.entries(ledger.grants)
    .filter(([name, grant]) => name !== ask.machine && isInFlight(grant) && !isLapsed(grant, now))
    .filter(([, { risk }]) => takesNodeDown(risk))
    .map(([name]) => name);
}

function misfits(input: PlacementInput): readonly DenialCause[] {
  const { nowhere, unknown } = planPlacement(input);
  const [pod] = unknown;
  const [first] = nowhere;
  return [
    ...(pod === undefined
      ? []
      : [{ reason: 'FactUnknown', message: `what Pod ${pod} needs cannot be read`, key: pod } as const]),
    ...(first
      ? [
          {
            reason: 'PodsFitNowhere',
            message: `Pods fit on no other node: ${nowhere.map((each) => `${each.pod}: ${each.because}`).join('; ')}`,
            key: first.pod,
          } as const,
        ]
      : []),
  ];
}

interface LeastFree {
  readonly resource: string;
  readonly least: number;
}

function shortage(input: PlacementInput, { resource, least }: LeastFree): readonly DenialCause[] {
  const { unknown } = input.capacity;
  if (unknown > 0) {
    return [{ reason: 'FactUnknown', message: `requests of ${unknown} Pods cannot be read`, key: resource }];
  }
  const { allocatable: total, requested: used } = reserveAfter(input, resource);
  // Without the resource on any node that stays, none of it is free.
  const free = total > 0 ? Math.max(0, Math.floor(((total - used) * 100) / total)) : 0;
  if (free >= least) return [];
  const message = `${resource}: ${free} % would be free after the act, at least ${least} % must be (${used / 1000} of ${total / 1000} requested)`;
  return [{ reason: 'CapacityReserve', message, key: resource, used: free, limit: least }];
}
