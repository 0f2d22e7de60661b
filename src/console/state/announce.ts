/** What a screen reader announces of a change: short, however much changed. Pure; runs in the page. */
import type { ConsoleState } from './state.ts';

const MAX_NAMED = 3;

/** Empty: nothing that a person has to hear. */
export function announceChange(before: ConsoleState, after: ConsoleState): string {
  return [
    changedTexts(before.machines, after.machines, { what: 'machines', state: ({ p }) => p }),
    changedTexts(before.rollouts, after.rollouts, { what: 'rollouts', state: rolloutText }),
    changedTexts(before.repairs, after.repairs, { what: 'repairs', state: ({ phase }) => phase }),
    changedTexts(before.clusters, after.clusters, { what: 'clusters', state: ({ state }) => state }),
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
  before: Readonly<Record<string, Row>>,
  after: Readonly<Record<string, Row>>,
  { what, state }: Named<Row>,
): string {
  if (before === after) return '';
  const changed = Object.entries(after).filter(([key, row]) => {
    const old = before[key];
    return old !== row && (old === undefined || state(old) !== state(row));
  });
  if (changed.length > MAX_NAMED) return `${changed.length} ${what} changed`;
  return changed.map(([key, row]) => `${key}: ${state(row)}`).join('. ');
}
