/** Tells how far one component of a machine is on its way to its entry, by what the agent reports of it. Pure. */
import type { MachineComponentEntry, MachineComponentReport } from '../api/generated/types.ts';
import type { Reason } from '../api/names.ts';

export type EntryProgress =
  | { readonly step: 'Done' }
  /**
   * InWork: the agent is not at its end. Unhealthy: the version is in force and does not work. Failed: the agent gave it up. Differs: the
   * host was adopted, and keeps what it runs until another version is assigned.
   */
  | {
      readonly step: 'InWork' | 'Unhealthy' | 'Failed' | 'Differs';
      readonly reason: string;
      readonly because: string;
    };

const DONE: EntryProgress = { step: 'Done' };
/** The reason of an entry that failed here before: the agent does not try it again. */
const DENIED: Reason = 'Denied';
/** The reason of an adopted host that runs something else than the entry. */
const HOST_DIFFERS = 'HostDiffers';

/** Returns how far a component is. A component that was not reported is not done, and one that was not probed is not healthy. */
export function entryProgress(
  entry: MachineComponentEntry,
  report: MachineComponentReport | undefined,
): EntryProgress {
  return (
    failure(entry, report) ?? (entry.state === 'Absent' ? removal(entry, report) : update(entry, report))
  );
}

/**
 * Returns the failure of an entry. RolledBack and Failed are of this entry only if the report is: the entry before it may have
 * ended like that, too.
 */
function failure(
  { name, componentRef }: MachineComponentEntry,
  report: MachineComponentReport | undefined,
): EntryProgress | undefined {
  const reason = report?.desiredRef === componentRef ? failureReason(report) : undefined;
  if (!report || reason === undefined) return undefined;
  return { step: 'Failed', reason, because: `${name}: ${errorOf(report)}` };
}

function errorOf({ error, waiting }: MachineComponentReport): string {
  return error?.message ?? waiting?.message ?? 'the agent gives no error';
}

function failureReason({ state, waiting }: MachineComponentReport): string | undefined {
  if (state === 'RolledBack' || state === 'Failed') return state;
  return waiting?.reason === DENIED ? DENIED : undefined;
}

/** Returns how far a removal is. After it the agent reports the component as Absent, or not at all. */
function removal({ name }: MachineComponentEntry, report: MachineComponentReport | undefined): EntryProgress {
  return !report || report.state === 'Absent' ? DONE : inWork(name, report);
}

function update(entry: MachineComponentEntry, report: MachineComponentReport | undefined): EntryProgress {
  const { name, digest } = entry;
  if (!report) return { step: 'InWork', reason: 'NotReported', because: `${name}: not reported yet` };
  const isInForce = report.state === 'Committed' && report.digest === digest;
  return isInForce ? health(report) : (difference(entry, report) ?? inWork(name, report));
}

/** Undefined also where the report is about another entry: the host was not compared with this one. */
function difference(
  { name, componentRef }: MachineComponentEntry,
  { desiredRef, waiting }: MachineComponentReport,
): EntryProgress | undefined {
  if (waiting?.reason !== HOST_DIFFERS || desiredRef !== componentRef) return undefined;
  return { step: 'Differs', reason: HOST_DIFFERS, because: `${name}: ${waiting.message}` };
}

function health({ name, running, ready }: MachineComponentReport): EntryProgress {
  if (running !== true) return { step: 'Unhealthy', reason: 'NotRunning', because: `${name} does not run` };
  if (ready === true) return DONE;
  if (ready === false) return { step: 'Unhealthy', reason: 'ProbesFail', because: `probes of ${name} fail` };
  return { step: 'InWork', reason: 'ProbesPending', because: `probes of ${name} have not run yet` };
}

function inWork(name: string, { state, waiting, error }: MachineComponentReport): EntryProgress {
  const found = state ?? 'NotReported';
  const cause = waiting?.message ?? error?.message;
  const why = cause === undefined ? '' : `: ${cause}`;
  return { step: 'InWork', reason: waiting?.reason ?? found, because: `${name} is ${found}${why}` };
}
