/**
 * Reads the events that hardware systems report as files: one JSON file an event, which its system replaces when the event changes. A file
 * that is removed ends nothing: an empty folder may be one that is not mounted.
 */
import type { ReconcileResult } from '../../../kube/controller/controller.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { secondsAfter } from '../../../os/dates.ts';
import { messageOf } from '../../../os/errors.ts';
import type { HardwareReportOutcome, ReportRecorder } from '../report/execute.ts';
import { readReport } from '../report/parse.ts';
import { listEventFiles, readEventFile, rejectEventFile } from './event-file.ts';
import { type EventFile, type KnownFile, planScan } from './folder-plan.ts';

/** The key of the scans. It has a slash, so no MaintenanceEvent has this name. */
export const FOLDER_KEY = 'scan/folder';

export interface EventFolder {
  readonly path: string;
  readonly recorder: ReportRecorder;
}

/** Holds what a process remembers between two scans. */
export interface FolderMemory {
  known: ReadonlyMap<string, KnownFile>;
  problem: string | undefined;
}

export function createFolderMemory(): FolderMemory {
  return { known: new Map(), problem: undefined };
}

const SCAN_SECONDS = 10;
/** A file whose machine has not joined yet is not read in each scan. */
const RETRY_MS = 60_000;

export interface ScanParts {
  readonly memory: FolderMemory;
  /** Returns the time by the clock of the API server. */
  readonly now: () => Date;
  readonly context: Pick<ReconcileContext, 'clock' | 'log' | 'signal'>;
}

export async function scanFolder(folder: EventFolder, parts: ScanParts): Promise<ReconcileResult> {
  const { memory, context } = parts;
  const files = await listFiles(folder, parts);
  if (files) {
    const plan = planScan(files, memory.known, context.clock.monotonicMs());
    const problem =
      plan.ignored === 0
        ? undefined
        : `${plan.ignored} files over the limit are ignored: remove the files of events that ended`;
    report(folder, problem, parts);
    const known = new Map(plan.known);
    memory.known = known;
    // One that fails is read again: the files before it are remembered.
    for (const file of plan.read) known.set(file.name, await readFile(folder, file, parts)); // oxlint-disable-line no-await-in-loop -- limited requests
  }
  return { requeueAt: secondsAfter(context.clock.now(), SCAN_SECONDS) };
}

/** Resolves to undefined for a folder that cannot be read: that is not an empty one. */
async function listFiles(folder: EventFolder, parts: ScanParts): Promise<readonly EventFile[] | undefined> {
  try {
    return await listEventFiles(folder.path);
  } catch (error) {
    report(folder, messageOf(error), parts);
    return undefined;
  }
}

/** Logs a problem of the folder once, until another one follows. */
function report({ path }: EventFolder, problem: string | undefined, { memory, context }: ScanParts): void {
  const isNews = problem !== undefined && problem !== memory.problem;
  const fields = { folder: path, because: problem };
  if (isNews) context.log.warn('folder of maintenance events not read whole', fields);
  memory.problem = problem;
}

async function readFile(
  { path, recorder }: EventFolder,
  file: EventFile,
  parts: ScanParts,
): Promise<KnownFile> {
  const { context, now } = parts;
  const done: KnownFile = { stamp: file.stamp, state: 'Done' };
  const content = await readEventFile(path, file);
  // The next scan finds its new content.
  if (!content) return { stamp: '', state: 'New' };
  if ('unreadable' in content) return waitFor(file, content.unreadable, parts);
  const read = 'problem' in content ? content : readReport(content.text);
  if ('problem' in read) {
    const moved = await rejectEventFile(path, file);
    context.log.warn('file of a maintenance event rejected', {
      file: file.name,
      because: read.problem,
      moved,
    });
    return done;
  }
  const changedAt = 'changedAt' in content ? content.changedAt : now();
  // A file of the future would hide each report that follows.
  const reportedAt = new Date(Math.min(+changedAt, +now()));
  const { report: of } = read;
  const outcome = await recorder.record({ report: of, reportedAt, now: now(), signal: context.signal });
  if (outcome.type === 'UnknownMachine') return waitFor(file, outcome.because, parts);
  logOutcome(file, outcome, parts);
  return done;
}

function logOutcome(
  { name }: EventFile,
  outcome: Exclude<HardwareReportOutcome, { readonly type: 'UnknownMachine' }>,
  { context: { log } }: ScanParts,
): void {
  if (outcome.type === 'Recorded') {
    log.info('maintenance event of a file recorded', { file: name, event: outcome.event });
  } else if (outcome.type !== 'Unchanged') {
    log.warn('maintenance event of a file not recorded', { file: name, because: outcome.because });
  }
}

/** Logs why a file waits once, until another reason follows. */
function waitFor({ name, stamp }: EventFile, because: string, { memory, context }: ScanParts): KnownFile {
  const { clock, log } = context;
  const isNews = memory.known.get(name)?.because !== because;
  if (isNews) log.warn('maintenance event of a file not recorded', { file: name, because });
  return { stamp, state: 'Waiting', retryAtMs: clock.monotonicMs() + RETRY_MS, because };
}
