/** Builds what a new agent reports about itself to the watchdog of its upgrade, after each reconcile that finished. Pure. */
import type { ComponentProgress } from '../journal/progress.ts';

/** The proof of an upgrade. Agents of other versions read it: fields are added, never changed. */
export interface UpgradeProof {
  /** The key from its own journal, so that an agent that cannot read the journal proves nothing. */
  readonly key: string;
  readonly pid: number;
  /** The uptime of the machine. */
  readonly atMs: number;
  /** The checks that are not proved yet. Empty: healthy. */
  readonly missing: readonly string[];
}

/** Returns the key of an upgrade in which this host is between two agents. */
export function upgradeKey(progress: ComponentProgress | undefined): string | undefined {
  if (progress?.transition?.step !== 'Stopping') return undefined;
  return `${progress.transition.to ?? ''} ${progress.since}`;
}
