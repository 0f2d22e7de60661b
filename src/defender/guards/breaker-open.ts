/**
 * R18: an open breaker denies what it is for; a half-open one grants one probe; after a storm, acts begin one by one. None holds
 * up a recovery.
 */
import type { DenyReason } from '../../api/deny-reasons.ts';
import { DETECTOR_DIMENSIONS } from '../../api/enums.ts';
import type { Breaker, LedgerBreaker, LedgerGrant } from '../../api/generated/types.ts';
import type { DenialCause } from '../../api/grants.ts';
import { isInFlight } from '../../api/grants.ts';
import { ownValue } from '../../kube/objects/json.ts';
import { breakerKeys, isBreakerFor } from '../breakers/keys.ts';
import { stormAllowance } from '../breakers/storm.ts';
import { isLapsed } from '../ledger/entries.ts';
import type { PreparedPolicy } from '../policies/prepare.ts';
import type { GuardInput, PolicyGuard } from './guard.ts';

export const breakerOpen: PolicyGuard = {
  id: 'breaker-open',
  reasons: ['BreakerOpen', 'BreakerHalfOpenBusy', 'BreakerNeedsPerson', 'DetectorSuspect'],
  proof: { promise: 'an act under an open breaker', seed: 3 },
  skippedByRecovery: true,
  checkedAtRenewal: true,
  checkPolicy: (input, policy) => checkBreakers(input, policy, ({ type }) => type !== 'CommonCause'),
};

/** R21: machines with the version or in the place that others failed with are left alone, all others go on. */
export const commonCause: PolicyGuard = {
  id: 'common-cause',
  reasons: ['CommonCause', 'DetectorSuspect', 'BreakerHalfOpenBusy', 'BreakerNeedsPerson'],
  proof: { promise: 'an act on a machine of a bad version', seed: 7 },
  skippedByRecovery: true,
  checkedAtRenewal: true,
  checkPolicy: (input, policy) => checkBreakers(input, policy, ({ type }) => type === 'CommonCause'),
};

function checkBreakers(
  input: GuardInput,
  policy: PreparedPolicy,
  isChecked: (breaker: Breaker) => boolean,
): readonly DenialCause[] {
  return policy.spec.breakers.filter(isChecked).flatMap((breaker) => checkBreaker(input, policy, breaker));
}

function checkBreaker(input: GuardInput, policy: PreparedPolicy, breaker: Breaker): readonly DenialCause[] {
  const { ask, machine, ledger } = input;
  if (isEmpty(ledger.breakers) || !isBreakerFor(breaker, ask.risk)) return [];
  return breakerKeys(policy.name, breaker, { holder: ask.holder, machine }).flatMap((key) => {
    const state = ownValue(ledger.breakers, key.id);
    return state ? causeOf(state, { breaker, ...key, machine: ask.machine }) : [];
  });
}

/** As nearly always: then no key is made. */
function isEmpty(breakers: GuardInput['ledger']['breakers']): boolean {
  for (const _ in breakers) return false;
  return true;
}

interface About {
  readonly breaker: Breaker;
  readonly label: string;
  readonly dimension?: string;
  readonly machine: string;
}

function causeOf(
  state: LedgerBreaker,
  { breaker, label, dimension, machine }: About,
): readonly DenialCause[] {
  const evidence = state.evidence ?? 'no evidence recorded';
  const of = { key: label };
  switch (state.state) {
    case 'NeedsPerson': {
      const message = `breaker ${breaker.name} of ${label} waits for a person: ${evidence}`;
      return [{ reason: 'BreakerNeedsPerson', message, ...of }];
    }
    case 'Open': {
      const message = `breaker ${breaker.name} of ${label} is open: ${evidence}`;
      return [{ reason: openReason(breaker, dimension), message, ...of }];
    }
    case 'HalfOpen': {
      if (state.probe === undefined || state.probe === machine) return [];
      const message = `breaker ${breaker.name} of ${label} is half open, and ${state.probe} is its probe`;
      return [{ reason: 'BreakerHalfOpenBusy', message, ...of }];
    }
    default:
      return state.state satisfies never;
  }
}

/** R6: what is reported may be wrong itself. */
function openReason({ type }: Breaker, dimension = ''): DenyReason {
  if (DETECTOR_DIMENSIONS.includes(dimension)) return 'DetectorSuspect';
  return OPEN_REASONS[type] ?? 'BreakerOpen';
}

const OPEN_REASONS: Readonly<Partial<Record<Breaker['type'], DenyReason>>> = {
  CommonCause: 'CommonCause',
  IndeterminateRatio: 'DetectorSuspect',
};

export const stormCooldown: PolicyGuard = {
  id: 'storm-cooldown',
  reasons: ['StormCooldown'],
  proof: { promise: 'more acts in a zone than it may begin after a storm', seed: 3 },
  skippedByRecovery: true,
  checkedAtRenewal: false,
  checkPolicy: (input, policy) =>
    policy.spec.breakers.flatMap((breaker) => checkStorm(input, policy, breaker)),
};

function checkStorm(input: GuardInput, policy: PreparedPolicy, breaker: Breaker): readonly DenialCause[] {
  const { ask, machine, ledger, now } = input;
  if (breaker.type !== 'UnhealthyRatio' || !isBreakerFor(breaker, ask.risk)) return [];
  return breakerKeys(policy.name, breaker, { holder: ask.holder, machine }).flatMap(
    ({ id, label }): readonly DenialCause[] => {
      const limit = stormAllowance(ledger.rates, id, now);
      if (limit === undefined) return [];
      const used = actsUnder(id, input, policy, breaker);
      if (used < limit) return [];
      const message = `${label} recovers from a storm: ${used} acts in work, and at most ${limit} allowed until more are verified (breaker ${breaker.name})`;
      return [{ reason: 'StormCooldown', message, key: label, used, limit }];
    },
  );
}

/** Acts in flight on other machines of the group. A machine that is not known is where its grant was issued. */
function actsUnder(
  id: string,
  { ledger, facts, ask, now }: GuardInput,
  { name }: PreparedPolicy,
  breaker: Breaker,
): number {
  return Object.entries(ledger.grants).filter(([machine, entry]) => {
    if (machine === ask.machine || !isBreakerFor(breaker, entry.risk) || !isInWork(entry, now)) return false;
    const subject = { holder: entry.holder, machine: facts.machine(machine) ?? { ...entry.keys } };
    return breakerKeys(name, breaker, subject).some((key) => key.id === id);
  }).length;
}

function isInWork(entry: LedgerGrant, now: Date): boolean {
  return isInFlight(entry) && !isLapsed(entry, now);
}
