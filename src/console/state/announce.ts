/** Decides what a screen reader announces of a change: short, however much changed. Pure; runs in the page. */
import type { ConsolePatch, SectionPatch } from './patch.ts';
import type { ConsoleState, MachineTile } from './state.ts';

const MAX_NAMED = 3;

/** The state that was shown before the change. */
export interface Announced extends Pick<ConsoleState, 'rollouts' | 'repairs' | 'clusters' | 'fleetPolicies'> {
  readonly machine: (key: string) => MachineTile | undefined;
}

/** Returns the text to announce. Empty: a person need not hear about the change. */
export function announceChange(before: Announced, change: ConsolePatch): string {
  return [
    changedTexts(before.machine, change.machines, { what: 'machines', state: ({ p }) => p }),
    changedTexts((key) => before.rollouts[key], change.rollouts, { what: 'rollouts', state: rolloutText }),
    changedTexts((key) => before.repairs[key], change.repairs, {
      what: 'repairs',
      state: ({ phase }) => phase,
    }),
    changedTexts((key) => before.clusters[key], change.clusters, {
      what: 'clusters',
      state: ({ state }) => state,
    }),
    changedTexts((key) => before.fleetPolicies[key], change.fleetPolicies, {
      what: 'limits over clusters',
      state: ({ stop, phase }) => (stop ? `stopped: ${stop.reason}` : phase),
    }),
  ]
    .filter(Boolean)
    .join('. ');
}

function rolloutText({ phase, batch }: ConsoleState['rollouts'][string]): string {
  return batch ? `${phase}, batch ${batch.place}` : phase;
}

interface Named<Row> {
  readonly what: string;
  readonly state: (row: Row) => string;
}

function changedTexts<Row>(
  before: (key: string) => Row | undefined,
  change: SectionPatch<Row> | undefined,
  { what, state }: Named<Row>,
): string {
  const changed = Object.entries(change?.set ?? {}).filter(([key, row]) => {
    const old = before(key);
    return old === undefined || state(old) !== state(row);
  });
  if (changed.length > MAX_NAMED) return `${changed.length} ${what} changed`;
  return changed.map(([key, row]) => `${key}: ${state(row)}`).join('. ');
}
