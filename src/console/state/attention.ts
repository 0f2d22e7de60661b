/** Decides what a person has to look at first, so that it is shown beside every page, however large the fleet is. Pure; runs in the page. */
import { machineAddress, pageAddress } from './pages/address.ts';
import type { ConsoleState, NoteLine, RepairCard, RolloutCard } from './state.ts';

/**
 * Tells whether a rollout waits for a person, has stopped, has machines that fail while it runs, or has some that fell behind and fail
 * after it completed.
 */
export function rolloutNeedsAttention({
  state,
  failed,
  isBehind,
}: Pick<RolloutCard, 'state' | 'failed' | 'isBehind'>): boolean {
  return (
    state === 'NeedsPerson' ||
    state === 'Failed' ||
    (failed > 0 && (state === 'Running' || isBehind === true))
  );
}

/** Tells whether a repair waits for a person. One that failed is over: what is left to do is a repair, a job or a note of its own. */
export function repairNeedsAttention({ state }: Pick<RepairCard, 'state'>): boolean {
  return state === 'NeedsPerson';
}

/** One thing that waits for a person. */
export interface AttentionItem {
  readonly key: string;
  /** Empty: the sentence names it. */
  readonly title: string;
  readonly cluster: string;
  readonly state: string;
  readonly since?: string;
  readonly because: string;
  readonly unblock: string;
  /** The address of the page that shows all of it. Absent: there is none. */
  readonly address?: string;
}

/** Returns what waits for a person, the newest first. Notes have no time and come last. */
export function attentionItems({
  rollouts,
  repairs,
  notes,
}: Pick<ConsoleState, 'rollouts' | 'repairs' | 'notes'>): readonly AttentionItem[] {
  const timed = [...rolloutItems(rollouts), ...repairItems(repairs)];
  const others = Object.values(notes).filter(({ bad, isIncident }) => bad && !isIncident);
  return [
    ...timed.toSorted((a, b) => Date.parse(b.since ?? '') - Date.parse(a.since ?? '') || 0),
    ...others.map(({ text }) => ({
      key: `note ${text}`,
      title: '',
      cluster: '',
      state: 'needs a person',
      because: text,
      unblock: '',
    })),
  ];
}

/** Returns the incidents, which also wait for a person: a banner above every page shows each. */
export function incidentLines(notes: ConsoleState['notes']): readonly NoteLine[] {
  return Object.values(notes).filter(({ isIncident }) => isIncident);
}

/** Counts what waits for a person: the incidents, and what is listed beside every page. */
export function countWaits(state: Pick<ConsoleState, 'rollouts' | 'repairs' | 'notes'>): number {
  return incidentLines(state.notes).length + attentionItems(state).length;
}

function rolloutItems(rollouts: ConsoleState['rollouts']): readonly AttentionItem[] {
  return Object.entries(rollouts)
    .filter(([, card]) => rolloutNeedsAttention(card))
    .map(([key, { cluster, set, state, since, because, unblock, failed }]) => ({
      key: `rollout ${key}`,
      title: `Rollout ${set}`,
      cluster,
      state,
      ...(since === undefined ? {} : { since }),
      because: failed > 0 ? `${because}; ${failed} failed` : because,
      unblock,
      address: pageAddress('rollouts'),
    }));
}

function repairItems(repairs: ConsoleState['repairs']): readonly AttentionItem[] {
  return Object.entries(repairs)
    .filter(([, card]) => repairNeedsAttention(card))
    .map(([key, { cluster, machine, state, created, rule, why }]) => ({
      key: `repair ${key}`,
      title: `Repair of ${machine}`,
      cluster,
      state,
      ...(created === undefined ? {} : { since: created }),
      because: why ? `${why.reason}: ${why.because}` : `rule ${rule}`,
      unblock: why?.unblock ?? '',
      address: machineAddress(`${cluster}/${machine}`),
    }));
}
