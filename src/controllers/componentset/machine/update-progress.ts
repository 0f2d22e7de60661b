/** Tells how far a machine has come with the entries that a set gave it, and when that counts as a failure. Pure. */
import type { Machine, MachineComponentEntry, MachineStatus } from '../../../api/generated/types.ts';
import { DRAIN_PENDING } from '../../../api/machine/drain-wait.ts';
import { isObserved } from '../../../api/machine/entry-report.ts';
import type { NodeReadiness } from '../../../api/machine/node-state.ts';
import { type EntryProgress, entryProgress } from '../../../rollout/entry-progress.ts';

/**
 * Unassigned: the set gave it nothing yet.
 * InWork: on its way. NeedsGrant: it was at its end, and its agent asks for a grant again.
 * Unknown: nothing is known of it now. It passes no gate, and is not rolled back.
 * Settled: at its entries, and healthy.
 * UnhealthyBefore: at its entries, on a Node that was unhealthy before: it neither fails a gate nor holds it up.
 * Unhealthy: was settled, and is not healthy any more. Failed: the agent gave up, or it took too long.
 * Retriable: the agent gave up under another retry token of the set.
 * Differs: the host was adopted and keeps what it runs: it has not got the version, and neither fails a batch nor holds it up.
 */
export type MemberStep =
  | 'Unassigned'
  | 'InWork'
  | 'NeedsGrant'
  | 'Unknown'
  | 'Settled'
  | 'UnhealthyBefore'
  | 'Unhealthy'
  | 'Failed'
  | 'Retriable'
  | 'Differs';

export interface Progress {
  readonly step: MemberStep;
  readonly reason: string;
  readonly because: string;
}

export interface UpdateInput {
  readonly machine: Machine;
  /** The entries that the set gave the machine. */
  readonly entries: readonly MachineComponentEntry[];
  readonly holdsGrant: boolean;
  readonly isHeld: boolean;
  /** When the last hold ended, as the machine controller observed it. */
  readonly releasedAt?: Date;
  readonly isSilent: boolean;
  readonly heardAt: Date | undefined;
  readonly isEstablished: boolean;
  readonly readiness: NodeReadiness;
  readonly readyChangedAt?: Date;
  readonly startedAt?: Date;
  /** When the permission ends that only the entries show: the ledger does not have their grant yet, or not any more. */
  readonly permittedUntil?: Date;
  /** Whether the retry token of the set differs from that of the entries. */
  readonly hasNewRetryToken: boolean;
  readonly patrol?: {
    readonly result: 'Pass' | 'Fail' | 'Unknown';
    readonly because: string;
    readonly asBefore?: string;
  };
}

interface Deadline {
  readonly timeoutSeconds: number;
  readonly now: Date;
}

/** The reason while the agent has not acted on its entries yet. */
export const NOT_OBSERVED = 'NotObserved';
const UNASSIGNED: Progress = {
  step: 'Unassigned',
  reason: 'Unassigned',
  because: 'has no entry of the set yet',
};
const SETTLED: Progress = { step: 'Settled', reason: 'Settled', because: 'committed and healthy' };

export function updateProgress(input: UpdateInput, deadline: Deadline): Progress {
  if (input.entries.length === 0) return UNASSIGNED;
  const onHost = hostProgress(input);
  if (onHost.step === 'Failed') return input.hasNewRetryToken ? { ...onHost, step: 'Retriable' } : onHost;
  if (input.isSilent) return silentProgress(input, deadline);
  return input.holdsGrant ? startedProgress(input, onHost, deadline) : endedProgress(input, onHost, deadline);
}

/** Returns the progress of the component that is worst. While a grant is out, only a report for the newest entries counts. */
function hostProgress({ machine, entries, holdsGrant }: UpdateInput): Progress {
  if (holdsGrant && !isObserved(machine)) {
    return { step: 'InWork', reason: NOT_OBSERVED, because: 'the agent has not acted on its entries yet' };
  }
  const reports = new Map(machine.status?.components?.map((report) => [report.name, report]));
  const open = entries
    .map((entry) => entryProgress(entry, reports.get(entry.name)))
    .filter((each): each is OpenProgress => each.step !== 'Done');
  return WORST_FIRST.flatMap((step) => open.find((each) => each.step === step) ?? [])[0] ?? SETTLED;
}

type OpenProgress = Exclude<EntryProgress, { step: 'Done' }>;
const WORST_FIRST = ['Failed', 'InWork', 'Unhealthy', 'Differs'] as const;

/** A silent agent may be at work: it fails after the time limit of an update, by our own clock. */
function silentProgress({ heardAt, startedAt }: UpdateInput, deadline: Deadline): Progress {
  const because = heardAt
    ? `its agent is silent since ${heardAt.toISOString()}`
    : 'its agent was never heard';
  const step = isOver(heardAt ?? startedAt, deadline) ? 'Failed' : 'Unknown';
  return { step, reason: 'AgentSilent', because };
}

/**
 * Returns the progress with a grant: the update goes on until everything is well, or the time is over. A person who holds the
 * machine stops the clock, and it starts over with the release.
 */
function startedProgress(input: UpdateInput, onHost: Progress, deadline: Deadline): Progress {
  const open = isAtEnd(onHost) ? nodeProblem(input) : withDrainBlocker(onHost, input.machine);
  if (!open) return onHost;
  if (input.isHeld || !isOver(clockStart(input), deadline)) return { ...open, step: 'InWork' };
  if (isAtEnd(onHost) && wasUnhealthyBefore(input)) return unhealthyBefore(open);
  const because = `not settled after ${deadline.timeoutSeconds} s: ${open.because}`;
  return { step: 'Failed', reason: 'TimedOut', because };
}

/** Tells whether the agent does nothing more for the entries. */
function isAtEnd({ step }: Progress): boolean {
  return step === 'Settled' || step === 'Differs';
}

/** The agent knows only that it waits. What the drain waits for comes first: messages are truncated. */
function withDrainBlocker(onHost: Progress, { status }: Machine): Progress {
  if (onHost.reason !== DRAIN_PENDING || !status) return onHost;
  const found = drainBlocker(status);
  return found === '' ? onHost : { ...onHost, because: `its drain waits for ${found}` };
}

function drainBlocker({ waiting, drain }: MachineStatus): string {
  const { blocker, message = '' } = waiting ?? {};
  if (!blocker) return (drain?.blockedBy ?? []).join(', ');
  const named = `${blocker.kind} ${blocker.name}`;
  return message === '' ? named : `${named}: ${message}`;
}

function clockStart({ startedAt, permittedUntil, releasedAt }: UpdateInput): Date | undefined {
  const known = permittedUntil ?? startedAt;
  return known && releasedAt && releasedAt > known ? releasedAt : known;
}

/** Returns the progress without a grant: the machine was settled once, so that anything wrong is a loss of health. */
function endedProgress(input: UpdateInput, onHost: Progress, deadline: Deadline): Progress {
  if (onHost.reason === 'GrantNeeded') return { ...onHost, step: 'NeedsGrant' };
  if (!isAtEnd(onHost)) return onHost;
  return lostNode(input, deadline) ?? patrolProblem(input) ?? asBefore(input, onHost);
}

function asBefore({ patrol }: UpdateInput, onHost: Progress): Progress {
  if (onHost.step !== 'Settled' || patrol?.asBefore === undefined) return onHost;
  return { step: 'Settled', reason: 'UnhealthyBefore', because: patrol.asBefore };
}

/** A Node that is Unknown may come back: it has as long as an update. */
function lostNode(input: UpdateInput, deadline: Deadline): Progress | undefined {
  const problem = nodeProblem(input);
  if (!problem) return undefined;
  if (wasUnhealthyBefore(input)) return unhealthyBefore(problem);
  return isOver(input.readyChangedAt, deadline) ? { ...problem, step: 'Unhealthy' } : problem;
}

/** A machine whose Node has never served settles by the report of its agent alone. */
function nodeProblem({ machine, isEstablished, readiness }: UpdateInput): Progress | undefined {
  if (!isEstablished || readiness === 'Ready') return undefined;
  const step = readiness === 'NotReady' ? 'Unhealthy' : 'Unknown';
  return { step, reason: `Node${readiness}`, because: `Node ${machine.metadata.name} is ${readiness}` };
}

function patrolProblem({ patrol }: UpdateInput): Progress | undefined {
  if (!patrol || patrol.result === 'Pass') return undefined;
  const step = patrol.result === 'Fail' ? 'Unhealthy' : 'Unknown';
  return { step, reason: `Patrol${patrol.result}`, because: patrol.because };
}

/** Tells whether the Node was unhealthy before the update. If it became so since the start, the update may have made it unhealthy. */
function wasUnhealthyBefore({ readyChangedAt, startedAt }: UpdateInput): boolean {
  return readyChangedAt !== undefined && startedAt !== undefined && readyChangedAt < startedAt;
}

function unhealthyBefore({ because }: Progress): Progress {
  return { step: 'UnhealthyBefore', reason: 'UnhealthyBefore', because: `${because}, as before the update` };
}

function isOver(since: Date | undefined, { timeoutSeconds, now }: Deadline): boolean {
  return since !== undefined && +now - +since > timeoutSeconds * 1000;
}
