/** Computes what changed between two states, and a state with that change. Pure; also runs in the page. */
import { type ConsoleRows, type ConsoleState, type RowsByKey, SECTIONS } from './state.ts';

/** A change of the state, with only the sections that changed. */
export type ConsolePatch = { readonly [Section in keyof ConsoleRows]?: SectionPatch<ConsoleRows[Section]> };

export interface SectionPatch<Row> {
  readonly set: RowsByKey<Row>;
  readonly removed: readonly string[];
}

type AnyRows = RowsByKey<ConsoleRows[keyof ConsoleRows]>;

/** Returns what changed from `before` to `after`. Undefined: they are equal. */
export function diffStates(before: ConsoleState, after: ConsoleState): ConsolePatch | undefined {
  const changed = SECTIONS.flatMap((section) => {
    const patch = diffRows(before[section], after[section]);
    return patch ? [[section, patch] as const] : [];
  });
  return changed.length > 0 ? (Object.fromEntries(changed) as ConsolePatch) : undefined;
}

function diffRows(before: AnyRows, after: AnyRows): SectionPatch<AnyRows[string]> | undefined {
  if (before === after) return undefined;
  // Keys, and not entries: those would be a new array for each of 10,000 rows.
  const set = Object.keys(after).filter((key) => !isEqualRow(before[key], after[key]));
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  if (set.length + removed.length === 0) return undefined;
  return { set: Object.fromEntries(set.map((key) => [key, after[key]])) as AnyRows, removed };
}

/** Tells whether two rows are equal. Rows are made from the same fields in the same order, and most are the same object as before. */
function isEqualRow(before: unknown, after: unknown): boolean {
  return before === after || JSON.stringify(before) === JSON.stringify(after);
}

/**
 * Returns the state with the change, only for the sections that the state has. Sections and rows that did not change stay the same objects.
 */
export function applyPatch<State extends Partial<ConsoleState>>(state: State, patch: ConsolePatch): State {
  const sections = SECTIONS.flatMap((section) => {
    const rows = state[section];
    return rows ? [[section, patchRows(rows, patch[section])] as const] : [];
  });
  return Object.fromEntries(sections) as unknown as State;
}

function patchRows(rows: AnyRows, patch: SectionPatch<AnyRows[string]> | undefined): AnyRows {
  if (!patch) return rows;
  const removed = new Set(patch.removed);
  const kept = removed.size > 0 ? Object.entries(rows).filter(([key]) => !removed.has(key)) : undefined;
  return { ...(kept ? Object.fromEntries(kept) : rows), ...patch.set };
}
