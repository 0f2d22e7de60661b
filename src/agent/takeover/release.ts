/**
 * Releases a host: undoes what the agent and `install` did, by the records on the host alone. Each step is recorded before it is done, reads
 * what is left of it, and can be repeated: it may be killed at any line.
 */
import { optional } from '../../kube/objects/optional.ts';
import type { Clock } from '../../os/clock.ts';
import { messageOf, OsError } from '../../os/errors.ts';
import type { Host } from '../host/port.ts';
import { openJournal } from '../journal/journal.ts';
import type { ComponentProgress } from '../journal/progress.ts';
import { readTarget } from '../target/store.ts';
import { requireHostFor } from './host-owner.ts';
import { type HostCleanup, readImportRecord, readReleaseRecord, writeReleaseRecord } from './record.ts';
import {
  formatReleaseStep,
  type HostReleaseStep,
  type InstalledComponent,
  planHostRelease,
} from './release-plan.ts';
import { carryOutRelease, type ReleasedHost } from './release-steps.ts';

export interface ReleaseOptions {
  readonly cleanup: HostCleanup;
  /** The UID of the Machine that the host must belong to. */
  readonly machineUid?: string;
  readonly clock: Pick<Clock, 'now'>;
}

export interface HostRelease {
  /** The paths and units that are still on the host, each with the reason. */
  readonly left: readonly string[];
  /** Whether every step succeeded. Otherwise the records are kept, and the release can be repeated. */
  readonly complete: boolean;
}

/** The steps without which nothing is released: an agent that runs installs again what is removed. */
const FIRST: readonly HostReleaseStep['type'][] = ['EndUpgrade', 'StopAgent'];

/** The steps that need the success of all before them: they remove what a repeat needs. */
const LAST: readonly HostReleaseStep['type'][] = ['RemoveState', 'ForgetMachine', 'RemoveProgram'];

export async function releaseHost(host: Host, options: ReleaseOptions): Promise<HostRelease> {
  const { cleanup, machineUid, clock } = options;
  await requireHostFor(host.files, optional('machineUid', machineUid));
  const record = await readImportRecord(host.files);
  const components = await installedComponents(host);
  const begin = createStepRecorder(host, { cleanup, at: clock.now().toISOString() });
  const released: ReleasedHost = { host, record, cleanup, components };
  const left: string[] = [];
  let complete = true;
  for (const step of planHostRelease({ cleanup, components })) {
    if (!complete && LAST.includes(step.type)) continue;
    await begin(step);
    try {
      left.push(...(await carryOutRelease(released, step)));
    } catch (error) {
      // Only errors of the host are answers.
      if (!(error instanceof OsError)) throw error;
      complete = false;
      left.push(`${formatReleaseStep(step)}: ${messageOf(error)}`);
      if (FIRST.includes(step.type)) break;
    }
  }
  return { left, complete };
}

/** Returns a function that records a step before it is done. The last step removes the record itself. */
function createStepRecorder(
  { files }: Pick<Host, 'files'>,
  { cleanup, at }: { readonly cleanup: HostCleanup; readonly at: string },
): (step: HostReleaseStep) => Promise<void> {
  return async (step) => {
    const before = await readReleaseRecord(files);
    const record = before?.cleanup === cleanup ? before : { cleanup, at, begun: [] };
    const name = formatReleaseStep(step);
    if (record.begun.includes(name)) return;
    await writeReleaseRecord(files, { ...record, begun: [...record.begun, name] });
  };
}

async function installedComponents({ files }: Pick<Host, 'files'>): Promise<readonly InstalledComponent[]> {
  const journal = await openJournal(files);
  const installed: InstalledComponent[] = [];
  for (const progress of journal.state().components.values()) {
    const ids = targetIds(progress);
    const targets = await Promise.all(ids.map((id) => readTarget(files, id)));
    const known = targets.filter((target) => target !== undefined);
    installed.push({ component: progress.component, targets: known, damaged: known.length < ids.length });
  }
  return installed;
}

/** Returns the ids of the targets that may be on the host, the newest first. */
function targetIds({ current, transition }: ComponentProgress): readonly string[] {
  const ids = [transition?.to, transition?.from, current].filter((id) => id !== undefined);
  return [...new Set(ids)];
}
