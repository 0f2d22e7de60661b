/** Reports how far a drain has come, for a status and for people. Pure. */
import type { DrainAction } from './plan.ts';
import { podName } from './pods.ts';

/** Holds the report of an earlier step, as the status of the caller keeps it. */
export interface PreviousDrain {
  readonly total: number;
  readonly evicted: number;
  readonly blockedBy: readonly string[];
  /** The time when the oldest of `blocks` began. */
  readonly blockedSince?: Date;
}

export interface DrainProgress {
  /** The number of pods, always `evicted` + `pending`. */
  readonly total: number;
  /** The number of pods that have left, or completed, since the drain began. Never falls. */
  readonly evicted: number;
  /** The number of pods that have to leave and are still there, terminating ones included. */
  readonly pending: number;
  /** The names of `blocks`, at most MAX_NAMES. */
  readonly blockedBy: readonly string[];
  /** The blocks, sorted by name. */
  readonly blocks: readonly DrainBlock[];
  readonly message: string;
}

/** The budget, or the pod that does not end or is refused for another reason. */
export interface DrainBlock {
  readonly kind: 'PodDisruptionBudget' | 'Pod';
  /** The name as `namespace/name`. */
  readonly name: string;
  readonly since: Date;
  /** The number of pods of the node that wait for it. */
  readonly pods: number;
  /** The explanation for one of these pods; of a refusal, the message of the API server. */
  readonly because: string;
}

/** The state of a drain. `Skipped`: the node is dead, and pods are left on it. `Drained` and `Skipped` end a drain. */
export type DrainState = 'NotCordoned' | 'Draining' | 'Drained' | 'Skipped';

/** The number of names that `blockedBy` of a status takes. */
const MAX_NAMES = 8;

export function drainState(actions: readonly DrainAction[], isCordoned: boolean): DrainState {
  // Without a cordon the next pod may come at any moment.
  if (!isCordoned) return 'NotCordoned';
  if (actions.some(isPending)) return 'Draining';
  return actions.some(isLeft) ? 'Skipped' : 'Drained';
}

export function drainProgress(actions: readonly DrainAction[], previous?: PreviousDrain): DrainProgress {
  const pending = actions.filter(isPending).length;
  // Pods on a dead node are not pending any more, and were not evicted either.
  const left = actions.filter(isLeft).length;
  const evicted = Math.max(previous?.evicted ?? 0, (previous?.total ?? 0) - pending - left);
  const blocks = blocksOf(actions);
  return {
    total: evicted + pending,
    evicted,
    pending,
    blockedBy: [...new Set(blocks.map(({ name }) => name))].slice(0, MAX_NAMES),
    blocks,
    message: messageOf(actions, { pending, left, blocks }),
  };
}

function isPending(action: DrainAction): boolean {
  return action.type !== 'Skip';
}

function isLeft(action: DrainAction): boolean {
  return action.type === 'Skip' && action.reason === 'DeadNode';
}

function blocksOf(actions: readonly DrainAction[]): readonly DrainBlock[] {
  const blocked = actions.flatMap((action) => {
    if (action.type !== 'Wait' || !action.blocker) return [];
    const { kind, names, since } = action.blocker;
    return names.map((name) => ({ kind, name, since, pods: 1, because: action.because }));
  });
  const groups = Map.groupBy(blocked, ({ kind, name }) => `${name} ${kind}`);
  return [...groups.values()]
    .map((group) => group.reduce(merge))
    .toSorted((a, b) => (a.name < b.name || (a.name === b.name && a.kind < b.kind) ? -1 : 1));
}

function merge(one: DrainBlock, other: DrainBlock): DrainBlock {
  const since = other.since < one.since ? other.since : one.since;
  return { ...one, since, pods: one.pods + other.pods };
}

interface Counts {
  readonly pending: number;
  readonly left: number;
  readonly blocks: readonly DrainBlock[];
}

function messageOf(actions: readonly DrainAction[], { pending, left, blocks }: Counts): string {
  if (left > 0) return `${left} pods are left: the kubelet does not answer, so that they cannot end`;
  if (pending === 0) return 'no pods left to evict';
  const hidden = blocks.length - MAX_NAMES;
  const parts = [
    ...blocks.slice(0, MAX_NAMES).map(textOfBlock),
    ...(hidden > 0 ? [`${hidden} more`] : []),
    ...textsOfOthers(actions),
  ];
  return `${pending} pods left: ${parts.join('; ')}`;
}

function textOfBlock({ kind, name, pods, since, because }: DrainBlock): string {
  const who = kind === 'Pod' ? `Pod ${name} waits` : `${pods} wait for ${kind} ${name}`;
  return `${who} since ${since.toISOString()} (${because})`;
}

const EXAMPLES = 3;

/** Returns the other pods by reason: `2 Terminating (shop/a, shop/b)`. */
function textsOfOthers(actions: readonly DrainAction[]): readonly string[] {
  const others = actions.flatMap((action) => {
    if (action.type === 'Evict') return [{ what: 'not asked for yet', name: podName(action.pod) }];
    return action.type === 'Wait' && !action.blocker
      ? [{ what: action.reason, name: podName(action.pod) }]
      : [];
  });
  return [...Map.groupBy(others, ({ what }) => what)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([what, group]) => {
      const names = group.slice(0, EXAMPLES).map(({ name }) => name);
      return `${group.length} ${what} (${[...names, ...(group.length > EXAMPLES ? ['…'] : [])].join(', ')})`;
    });
}
