/** Derives what the journal knows of corrections and processes of a component. Pure. */
import type { CorrectionRecord, ProcessRecord } from './record.ts';

/** The number of corrections that are kept, the newest ones: as many as limits and status need. */
const MAX_CORRECTIONS = 32;

export interface ComponentDrift {
  /** The corrections, oldest first. */
  readonly corrections: readonly CorrectionRecord[];
  /** The last process that was observed of each unit. */
  readonly processes: ReadonlyMap<string, ProcessRecord>;
}

export const NO_DRIFT: ComponentDrift = { corrections: [], processes: new Map() };

export function applyDrift(
  { corrections, processes }: ComponentDrift,
  record: CorrectionRecord | ProcessRecord,
): ComponentDrift {
  if (record.type === 'Correction') {
    return { corrections: [...corrections, record].slice(-MAX_CORRECTIONS), processes };
  }
  return { corrections, processes: new Map(processes).set(record.unit, record) };
}

export function recordsOfDrift({
  corrections,
  processes,
}: ComponentDrift): readonly (CorrectionRecord | ProcessRecord)[] {
  return [...corrections, ...processes.values()];
}
