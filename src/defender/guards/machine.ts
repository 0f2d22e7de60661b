/** Limits of one machine: one act at a time, and not the same repair again and again. */
import type { DenialCause } from '../../api/grants.ts';
import { isInFlight } from '../../api/grants.ts';
import type { RepairFact } from '../facts/facts.ts';
import { isLapsed, isSuspect } from '../ledger/entries.ts';
import type { PreparedPolicy } from '../policies/prepare.ts';
import {
  type AskGuard,
  after,
  entryOf,
  type GuardInput,
  isRepair,
  type PolicyGuard,
  secondsFrom,
} from './guard.ts';

export const oneAct: AskGuard = {
  id: 'one-act',
  reasons: ['NodeBusy'],
  proof: { promise: 'two acts on one machine', seed: 1 },
  skippedByRecovery: false,
  checkedAtRenewal: false,
  check: checkBusy,
};

export const nodeAge: PolicyGuard = {
  id: 'node-age',
  reasons: ['NodeTooYoung', 'FactUnknown'],
  proof: { promise: 'a repair of a young node', seed: 2 },
  skippedByRecovery: true,
  checkedAtRenewal: false,
  checkPolicy: checkAge,
};

export const repairLimits: PolicyGuard = {
  id: 'repair-limits',
  reasons: ['NodeInterval', 'NodeJobLimit', 'NodeRebootLimit', 'Lemon', 'FactUnknown'],
  proof: { promise: 'a repair too soon after the last', seed: 1 },
  skippedByRecovery: true,
  checkedAtRenewal: false,
  checkPolicy: checkRepairs,
};

function checkBusy(input: GuardInput): readonly DenialCause[] {
  const { ask, now } = input;
  const entry = entryOf(input);
  if (!entry || !isInFlight(entry) || isLapsed(entry, now)) return [];
  const { kind, name } = entry.holder;
  const state = isSuspect(entry, now) ? `past its end since ${entry.notAfter}` : entry.state;
  const message = `machine ${ask.machine}: ${entry.action} of ${kind} ${name} is in work (${entry.id}, ${state})`;
  return [{ reason: 'NodeBusy', message, key: entry.id }];
}

function checkAge(input: GuardInput, { spec }: PreparedPolicy): readonly DenialCause[] {
  const { machine, now } = input;
  const limit = spec.blockers.minNodeAgeSeconds;
  if (!isRepair(input) || machine.nodeUID === undefined) return [];
  const { nodeCreatedAt } = machine;
  if (!nodeCreatedAt) {
    return [{ reason: 'FactUnknown', message: `age of Node ${machine.name} is unknown`, limit }];
  }
  const used = secondsFrom(nodeCreatedAt, now);
  if (used >= limit) return [];
  const message = `Node ${machine.name} is ${used} s old; repairs begin after ${limit} s`;
  return [{ reason: 'NodeTooYoung', message, used, limit, until: after(nodeCreatedAt, limit) }];
}

function checkRepairs(input: GuardInput, { spec: { perMachine } }: PreparedPolicy): readonly DenialCause[] {
  const { machine, now } = input;
  if (!isRepair(input)) return [];
  const { repairs } = machine;
  if (!repairs) {
    return [{ reason: 'FactUnknown', message: `earlier repairs of machine ${machine.name} are unknown` }];
  }
  const { maxGrants, maxReboots, windowSeconds, minIntervalSeconds, lemon } = perMachine;
  const reboots = repairs.filter(({ rebooted }) => rebooted);
  const within = { name: machine.name, now };
  return [
    ...interval(
      repairs.find((each) => !isRungBefore(each, input)),
      minIntervalSeconds,
      within,
    ),
    ...limited('NodeJobLimit', repairs, { max: maxGrants, seconds: windowSeconds, ...within }),
    ...limited('NodeRebootLimit', isReboot(input) ? reboots : [], {
      max: maxReboots,
      seconds: windowSeconds,
      ...within,
    }),
    ...limited('Lemon', repairs, { max: lemon.repairs, seconds: lemon.windowSeconds, ...within }),
    ...replaced(input, repairs, lemon.windowSeconds),
  ];
}

/** A fault that is there again on the hardware of which the Machine was replaced is one of the hardware. */
function replaced(
  { ask: { holder }, machine: { name }, now }: GuardInput,
  repairs: readonly RepairFact[],
  seconds: number,
): readonly DenialCause[] {
  const rule = holder.origin?.replace(/^NodeRemedier\//, '');
  const found = repairs.find(
    ({ at, replacedFor }) =>
      replacedFor !== undefined && replacedFor === rule && secondsFrom(at, now) < seconds,
  );
  if (!found) return [];
  const message = `machine ${name}: rule ${rule} finds the fault again on hardware of which it replaced the machine at ${found.at.toISOString()}`;
  return [{ reason: 'Lemon', message }];
}

interface Within {
  readonly name: string;
  readonly now: Date;
}

const REBOOTS = ['Reboot', 'PowerOff', 'PowerCycle'];

function isReboot({ ask }: GuardInput): boolean {
  return REBOOTS.includes(ask.action);
}

function interval(
  last: RepairFact | undefined,
  limit: number,
  { name, now }: Within,
): readonly DenialCause[] {
  if (!last) return [];
  const used = secondsFrom(last.at, now);
  if (used >= limit) return [];
  const until = after(last.at, limit);
  const message = `machine ${name} was repaired ${used} s ago; the next repair may begin at ${until.toISOString()}`;
  return [{ reason: 'NodeInterval', message, used, limit, until }];
}

/** `<machine>-<remedier>-<case>-r<rung>-a<attempt>`. */
const JOB_NAME = /^(?<caseName>.+-[0-9a-f]{8})-r(?<rung>\d)-a\d$/;

/** Returns whether it was an earlier rung of the same case and changed nothing: the case goes on where it was. */
function isRungBefore({ unchangedBy = '' }: RepairFact, { ask: { holder } }: GuardInput): boolean {
  const before = JOB_NAME.exec(unchangedBy)?.groups;
  const next = JOB_NAME.exec(holder.name)?.groups;
  if (!before || !next || before['caseName'] !== next['caseName']) return false;
  return Number(before['rung']) < Number(next['rung']);
}

const WHAT = { NodeJobLimit: 'repairs', NodeRebootLimit: 'reboots', Lemon: 'repairs of a lemon' } as const;

function limited(
  reason: keyof typeof WHAT,
  repairs: readonly RepairFact[],
  { max, seconds, name, now }: Within & { readonly max: number; readonly seconds: number },
): readonly DenialCause[] {
  const recent = repairs.filter(({ at }) => secondsFrom(at, now) < seconds);
  if (recent.length < max) return [];
  const message = `machine ${name}: ${recent.length} ${WHAT[reason]} within ${seconds} s; the limit is ${max}`;
  // With fewer than `max` again: when the oldest of the newest `max` leaves the period.
  const leaving = recent[max - 1];
  const until = leaving && reason !== 'Lemon' ? { until: after(leaving.at, seconds) } : {};
  return [{ reason, message, used: recent.length, limit: max, ...until }];
}
