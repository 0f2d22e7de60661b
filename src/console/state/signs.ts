/** Maps each state to a sign: a letter or a shape besides the color, so that it can be read without colors. Pure; runs in the page. */

import type { MachineTile } from './state.ts';

export type PhaseTone = 'good' | 'busy' | 'bad' | 'quiet';

export interface PhaseSign {
  readonly sign: string;
  readonly tone: PhaseTone;
}

const MACHINE_SIGNS: Readonly<Record<string, PhaseSign>> = {
  Ready: { sign: '✓', tone: 'good' },
  Updating: { sign: '↑', tone: 'busy' },
  Joining: { sign: '+', tone: 'busy' },
  Creating: { sign: '+', tone: 'busy' },
  Importing: { sign: '+', tone: 'busy' },
  Pending: { sign: '…', tone: 'quiet' },
  Held: { sign: 'H', tone: 'quiet' },
  Deleting: { sign: '−', tone: 'quiet' },
  NotReady: { sign: '!', tone: 'bad' },
  Unreachable: { sign: '?', tone: 'bad' },
  Stalled: { sign: '×', tone: 'bad' },
};

const SIGNED_AS_CORDONED: ReadonlySet<string> = new Set(['Ready', 'Updating']);
const UNKNOWN_SIGN: PhaseSign = { sign: '·', tone: 'quiet' };

/** The sign of a cordon. A cordon of others is as quiet as a hold: kubenode changes nothing there. */
const CORDON_SIGNS: Readonly<Record<Cordoner, PhaseSign>> = {
  kubenode: { sign: 'C', tone: 'busy' },
  others: { sign: 'U', tone: 'quiet' },
};

/** The one who keeps new pods away from a Node. */
export type Cordoner = 'kubenode' | 'others';

export function cordonerOf({ c }: Pick<MachineTile, 'c'>): Cordoner | undefined {
  return c && (c.g === undefined ? 'others' : 'kubenode');
}

/**
 * Returns the sign of a machine. A machine that is being repaired is shown so, whatever its phase. A cordon hides no trouble, no hold and
 * no deletion: each of these explains more than the cordon does.
 */
export function machineSign(tile: Pick<MachineTile, 'p' | 'c'>, isRepaired = false): PhaseSign {
  const { p: phase } = tile;
  if (isRepaired) return { sign: 'R', tone: phase === 'Ready' ? 'busy' : 'bad' };
  const cordoner = cordonerOf(tile);
  if (cordoner && SIGNED_AS_CORDONED.has(phase)) return CORDON_SIGNS[cordoner];
  return Object.hasOwn(MACHINE_SIGNS, phase) ? (MACHINE_SIGNS[phase] ?? UNKNOWN_SIGN) : UNKNOWN_SIGN;
}

/** A state can also wait for a time or for a person without any trouble. */
export type StateTone = PhaseTone | 'attention';

const TONES: ReadonlyMap<string, StateTone> = new Map<string, StateTone>([
  ...['Waiting', 'Paused'].map((state) => [state, 'attention'] as const),
  ...['Completed', 'Succeeded', 'Proven', 'Ready', 'Idle', 'Healthy', 'InForce'].map(
    (state) => [state, 'good'] as const,
  ),
  ...['Running', 'Applying', 'Soaking', 'Pending', 'Promoting', 'Progressing'].map(
    (state) => [state, 'busy'] as const,
  ),
  ...['Failed', 'NeedsPerson', 'Held', 'Stalled', 'Unreachable', 'SourceFailed', 'Refused', 'Unhealthy'].map(
    (state) => [state, 'bad'] as const,
  ),
  // Of limits over clusters.
  ...['Stopped', 'NotReady', 'CutOff'].map((state) => [state, 'bad'] as const),
]);

/** Returns the tone of the state of a cluster, a pipeline, a rollout, a repair or a limit over clusters. */
export function stateTone(state: string): StateTone {
  return TONES.get(state) ?? 'quiet';
}
