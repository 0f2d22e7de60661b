/** Plans the Events that inform people of a change of the machine, from two reports in sequence. Pure. */
import type { MachineComponentReport, MachineDrift } from '../../api/generated/types.ts';
import { EVENT_PREFIX, MANAGER_AGENT } from '../../api/names.ts';
import type { AgentStatus } from './report.ts';

/** The second part of the reason of an Event. All are listed in docs/guides/join-a-machine.md. */
export type AgentEventName =
  | 'Installed'
  | 'Removed'
  | 'RolledBack'
  | 'Failed'
  | 'Denied'
  | 'DependencyMismatch'
  | 'OperationFailed'
  | 'DriftCorrected'
  | 'DriftReported'
  | 'GaveUp';

export interface MachineEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  /** The action in CamelCase: what was done or tried. */
  readonly action: string;
  readonly note: string;
}

/** Plans the Events between two reports. There are none without a report before: what is new is not known then. */
export function planMachineEvents(
  before: AgentStatus | undefined,
  after: AgentStatus,
): readonly MachineEvent[] {
  if (!before) return [];
  const components = after.components.flatMap((each) => {
    const last = before.components.find(({ name }) => name === each.name);
    const old = last ?? { name: each.name, state: 'Absent' };
    return [componentEvent(old, each) ?? [], mismatchEvent(old, each) ?? []].flat();
  });
  const known = new Set(before.drift.map(driftKey));
  const drift = after.drift.filter((each) => !known.has(driftKey(each))).map(driftEvent);
  return [...components, ...drift];
}

type Change = (before: MachineComponentReport, after: MachineComponentReport) => MachineEvent | undefined;

function componentEvent(
  before: MachineComponentReport,
  after: MachineComponentReport,
): MachineEvent | undefined {
  return settledEvent(before, after) ?? deniedEvent(before, after) ?? failureEvent(before, after);
}

/** Returns the Event of the end of a transition: each has its own time. */
function settledEvent(
  before: MachineComponentReport,
  after: MachineComponentReport,
): MachineEvent | undefined {
  return before.since === after.since ? undefined : SETTLED[after.state ?? '']?.(before, after);
}

/** Tells whether a version was installed: a transition that was given up before it changed anything ends in Committed, too. */
function isInstalled(before: MachineComponentReport, after: MachineComponentReport): boolean {
  const wasChanging = before.state === 'Activating' || before.state === 'Probation';
  return wasChanging || before.currentRef !== after.currentRef || before.digest !== after.digest;
}

const SETTLED: Readonly<Record<string, Change>> = {
  Committed: (before, after) => {
    if (!isInstalled(before, after)) return undefined;
    const { name, currentRef = name } = after;
    const isReplaced = before.currentRef !== undefined && before.currentRef !== currentRef;
    const replaced = isReplaced ? `, before: ${before.currentRef}` : '';
    return event('Installed', 'Install', `${currentRef} is installed and runs${replaced}`);
  },
  Absent: ({ state }, { name }) =>
    state === 'Absent' ? undefined : event('Removed', 'Remove', `${name} is removed from the host`),
  RolledBack: (_, after) => {
    const { name, desiredRef = name, currentRef } = after;
    const what = currentRef === undefined ? 'was removed again' : `was rolled back to ${currentRef}`;
    return event('RolledBack', 'RollBack', `${desiredRef} ${what}: ${reasonOf(after)}. ${RETRY}`);
  },
  Failed: (_, after) =>
    event('Failed', 'Install', `${after.desiredRef ?? after.name} failed: ${reasonOf(after)}. ${RETRY}`),
};

const RETRY = 'To try it again, change spec.retryToken of the Machine';

function reasonOf({ error }: MachineComponentReport): string {
  return error ? `${error.code}: ${error.message}` : 'the reason is not known';
}

/** Returns the Event when the entry failed here before, and is in the Machine again. */
function deniedEvent(
  before: MachineComponentReport,
  { name, desiredRef = name, waiting }: MachineComponentReport,
): MachineEvent | undefined {
  if (waiting?.reason !== 'Denied' || waiting.reason === before.waiting?.reason) return undefined;
  return event('Denied', 'Install', `${desiredRef} is not installed: ${waiting.message}. ${RETRY}`);
}

/** Returns the Event of a dependency mismatch, also of a rollback, which is an Event of its own. */
function mismatchEvent(
  before: MachineComponentReport,
  { waiting }: MachineComponentReport,
): MachineEvent | undefined {
  if (waiting?.reason !== 'DependencyMismatch' || waiting.reason === before.waiting?.reason) return undefined;
  return event('DependencyMismatch', 'Observe', waiting.message ?? '');
}

/** Returns the Event of a failure, which is tried again by itself. */
function failureEvent(
  before: MachineComponentReport,
  { name, desiredRef = name, error }: MachineComponentReport,
): MachineEvent | undefined {
  if (!error || error.code === before.error?.code) return undefined;
  return event('OperationFailed', 'Install', `${desiredRef}: ${error.code}: ${error.message}`);
}

function driftKey({ component, path, kind, action, at }: MachineDrift): string {
  // Of what was given up or is only reported, the time is that of an earlier correction.
  return JSON.stringify([component, path, kind, action, action === 'Corrected' ? at : '']);
}

type DriftAction = NonNullable<MachineDrift['action']>;

const DRIFT: Readonly<Record<DriftAction, readonly [name: AgentEventName, action: string, text: string]>> = {
  Corrected: ['DriftCorrected', 'Correct', 'differed from the Machine and was corrected'],
  Waiting: ['DriftReported', 'Observe', 'differs from the Machine and is corrected again later'],
  Reported: ['DriftReported', 'Observe', 'differs from the Machine and is left as it is'],
  GaveUp: ['GaveUp', 'Correct', 'differs again after each correction: it is no longer corrected'],
};

function driftEvent({ component, path = '', kind, action = 'Reported' }: MachineDrift): MachineEvent {
  const [name, what, text] = DRIFT[action];
  return event(name, what, `${path} of ${component} (${kind}) ${text}`);
}

const NORMAL: readonly AgentEventName[] = ['Installed', 'Removed', 'DriftCorrected'];

function event(name: AgentEventName, action: string, note: string): MachineEvent {
  const type = NORMAL.includes(name) ? 'Normal' : 'Warning';
  return { type, reason: `${EVENT_PREFIX[MANAGER_AGENT]}${name}`, action, note };
}
