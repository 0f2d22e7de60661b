/** Histories of one set and its machines, written by hand: a test adds the event that breaks a promise. */
import type {
  DesiredSet,
  HostTruth,
  MachineTruth,
  QuietCluster,
  RolloutEvent,
  StartedUpdate,
} from '../../../../src/sim/rollout/history.ts';

const DESIRED: DesiredSet = {
  set: 'general',
  exists: true,
  paused: false,
  revision: 'r-2',
  maxUnavailable: 2,
  maxFailed: 0,
  soakMs: 300_000,
  timeoutMs: 900_000,
  maxBatch: 99,
};

export function desired(seconds: number, parts: Partial<DesiredSet> = {}): RolloutEvent {
  return { atMs: seconds * 1000, what: 'Set', ...DESIRED, ...parts };
}

export function machine(seconds: number, name: string, parts: Partial<MachineTruth> = {}): RolloutEvent {
  const usual = { uid: `uid-${name}`, exists: true, sets: ['general'], serves: true, isHeld: false };
  const isHealthy = parts.serves ?? usual.serves;
  const nodeServes = isHealthy;
  return {
    atMs: seconds * 1000,
    what: 'Machine',
    machine: name,
    ...usual,
    isSilent: false,
    nodeServes,
    isHealthy,
    isCordonedByPerson: false,
    isFaulty: false,
    ...parts,
  };
}

export function grant(
  seconds: number,
  name: string,
  parts: { readonly isOpen?: boolean } = {},
): RolloutEvent {
  const usual = { set: 'general', isOpen: true, untilMs: (seconds + 300) * 1000 };
  return { atMs: seconds * 1000, what: 'Grant', machine: name, id: `g-${name}`, ...usual, ...parts };
}

/** The grant, and the write under it. */
export function start(
  seconds: number,
  name: string,
  parts: Partial<StartedUpdate> = {},
): readonly RolloutEvent[] {
  const usual = { set: 'general', revision: 'r-2', batch: 0, grant: `g-${name}`, kind: 'Update' } as const;
  return [grant(seconds, name), { atMs: seconds * 1000, what: 'Start', machine: name, ...usual, ...parts }];
}

export function host(
  seconds: number,
  name: string,
  state: HostTruth['state'],
  revision = 'r-2',
): RolloutEvent {
  return { atMs: seconds * 1000, what: 'Host', machine: name, set: 'general', revision, state };
}

export function completed(seconds: number, revision = 'r-2'): RolloutEvent {
  return { atMs: seconds * 1000, what: 'Completed', set: 'general', revision };
}

export function clock(seconds: number, skewMs: number): RolloutEvent {
  return { atMs: seconds * 1000, what: 'Clock', skewMs };
}

export function quiet(parts: Partial<QuietCluster> = {}): RolloutEvent {
  return {
    atMs: 9_999_000,
    what: 'Quiet',
    waits: { general: 'AllDone' },
    hung: [],
    cordons: [],
    grants: [],
    ...parts,
  };
}

/** Four machines that serve for long, at revision 1, and a commit at second 1000. */
export const FLEET: readonly RolloutEvent[] = [
  desired(0, { revision: 'r-1' }),
  ...['m-1', 'm-2', 'm-3', 'm-4'].flatMap((name) => [machine(0, name), host(0, name, 'Committed', 'r-1')]),
  completed(900, 'r-1'),
  desired(1000),
];

/** Batch 0 is well since second 1060. */
export const FIRST_BATCH: readonly RolloutEvent[] = [
  ...FLEET,
  ...start(1010, 'm-1'),
  host(1060, 'm-1', 'Committed'),
];
