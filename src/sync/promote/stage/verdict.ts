/** What the clusters of a stage say together about the commit that it is on. Pure. */
import type { ReleaseStageClusters, Stage } from '../../../api/generated/types.ts';
import { amountOf } from '../../../rollout/int-or-percent.ts';
import type { MemberContext } from '../cluster/stage-member.ts';
import { isOnTrial, type Position, type Standing, takesFastLane } from '../cluster/stage-member.ts';
import { failureBudget } from '../limits.ts';
import { type Because, earliest } from '../snapshot.ts';

export interface Verdict {
  readonly state: 'Promoting' | 'Soaking' | 'Proven' | 'Failed';
  /** Why it is not proven yet; absent when it is. */
  readonly wait?: Because;
}

/** Not asked for a proof: a person paused it, nobody can see it, or it has something newer. */
const UNCOUNTED: ReadonlySet<Position> = new Set(['Paused', 'Skipped', 'Ahead']);
const FAILED: ReadonlySet<Position> = new Set(['Failed', 'Inherits']);
/** Something goes on, or will by itself. */
const UNDER_WAY: ReadonlySet<Position> = new Set(['Applying', 'Soaking', 'Pending', 'Unreachable', 'Unseen']);

export function namesAt(standings: readonly Standing[], positions: ReadonlySet<Position>): readonly string[] {
  return standings.filter(({ position }) => positions.has(position)).map(({ member }) => member.name);
}

export function failedIn(standings: readonly Standing[]): readonly string[] {
  return namesAt(standings, FAILED);
}

/**
 * Proven: every cluster that counts is. Failures within the budget do not count against it, and one at least must be proven:
 * clusters that nobody saw are no proof.
 */
export function verdictOf(standings: readonly Standing[], stage: Stage): Verdict {
  const [spent] = failureBudget({ stage, total: standings.length, failed: failedIn(standings) });
  if (spent) return { state: 'Failed', wait: spent };
  const open = standings.filter(({ position }) => !UNCOUNTED.has(position) && !FAILED.has(position));
  const proven = open.filter(({ position }) => position === 'Proven');
  const tooMany = skippedTooMany(standings, stage);
  if (!tooMany && proven.length > 0 && proven.length === open.length) return { state: 'Proven' };
  const moving = open.some(({ position }) => position !== 'Proven' && position !== 'Soaking');
  const soaking = open.some(({ position }) => position === 'Soaking');
  return { state: soaking && !moving ? 'Soaking' : 'Promoting', wait: tooMany ?? firstWait(standings) };
}

function skippedTooMany(standings: readonly Standing[], { name, unreachable }: Stage): Because | undefined {
  const skipped = namesAt(standings, new Set(['Skipped']));
  const allowed = amountOf(unreachable.maxSkipped, standings.length);
  const [first] = skipped;
  if (first === undefined || skipped.length <= allowed) return undefined;
  const because = `clusters unreachable in ${name}: ${skipped.length}, allowed: ${allowed} (${skipped.slice(0, 20).join(', ')})`;
  return { reason: 'TooManySkipped', because, blocker: { kind: 'Cluster', name: first } };
}

/** What people should hear first: what needs a person, then what cannot be seen, then what goes on. */
const LOUDEST: readonly Position[] = [
  'Held',
  'Blocked',
  'Unreachable',
  'Unseen',
  'Unrendered',
  'Applying',
  'Pending',
  'Soaking',
  'Failed',
  'Inherits',
  'Paused',
  'Skipped',
  'Ahead',
];

function firstWait(standings: readonly Standing[]): Because {
  for (const position of LOUDEST) {
    const found = standings.filter((standing) => standing.position === position);
    const [first] = found;
    if (first) return told(first, found);
  }
  return { reason: 'NoClusters', because: 'no cluster of the stage counts' };
}

/** The soak of a stage ends with that of its last cluster. */
function told(first: Standing, all: readonly Standing[]): Because {
  const { reason, because, until, member } = first;
  const last = all.reduce(
    (latest, next) => ((next.until ?? latest) > latest ? (next.until ?? latest) : latest),
    until ?? new Date(0),
  );
  return {
    reason,
    because: `${member.name}: ${because}`,
    blocker: first.blocker ?? { kind: 'Cluster', name: member.name },
    ...(until ? { until: first.position === 'Soaking' ? last : until } : {}),
  };
}

/**
 * A newer commit may take its place: the commit fails here, or nothing is under way that would ever prove it. A failure within
 * the budget does not keep it from being proven, and so lets nothing in: else one sick cluster would starve its stage.
 */
export function givesWay(standings: readonly Standing[], stage: Stage): boolean {
  const failed = failedIn(standings);
  if (failureBudget({ stage, total: standings.length, failed }).length > 0) return true;
  const stuck = standings.some(
    ({ position, same, member }) =>
      same && position !== 'Paused' && !FAILED.has(position) && member.progress.failing,
  );
  return stuck || !standings.some(({ position }) => UNDER_WAY.has(position));
}

/** The commit takes the stage back: nothing would have to soak, and what is on trial here now goes away. */
export function isRevert(standings: readonly Standing[], commit: string, context: MemberContext): boolean {
  const begun = standings.filter(({ member }) => member.progress.trial !== 'None');
  return (
    begun.some(({ member, same }) => !same && isOnTrial(member)) &&
    begun.every((standing) => takesFastLane(standing, commit, context))
  );
}

export function soakEnd(standings: readonly Standing[]): Date | undefined {
  const ends = standings.flatMap(({ position, until }) => (position === 'Soaking' && until ? until : []));
  return ends.toSorted((a, b) => +b - +a)[0];
}

export function countsOf(standings: readonly Standing[], commit: string): ReleaseStageClusters {
  const count = (...positions: readonly Position[]): number => namesAt(standings, new Set(positions)).length;
  return {
    total: standings.length,
    pending: count('Pending', 'Unseen', 'Blocked', 'Unrendered'),
    applying: count('Applying', 'Held'),
    soaking: count('Soaking'),
    proven: count('Proven'),
    unchanged: standings.filter((standing) => wasUnchanged(standing, commit)).length,
    failed: count('Failed', 'Inherits'),
    unreachable: count('Unreachable'),
    skipped: count('Skipped', 'Paused', 'Ahead'),
  };
}

/** It was proven with another commit that rendered to the same. */
function wasUnchanged({ position, member, digest }: Standing, commit: string): boolean {
  if (position !== 'Proven') return false;
  const proof = member.progress.sync.proven?.find((entry) => entry.digest === digest);
  return proof !== undefined && proof.commit !== commit;
}

/** The next moment at which time alone brings news. What is over already brings none: it would wake us for ever. */
export function nextWake(standings: readonly Standing[], now: Date): Date | undefined {
  const moments = standings.flatMap(({ until, member }) => [until, member.progress.wakeAt]);
  return earliest(moments.filter((moment) => moment !== undefined && moment > now));
}
