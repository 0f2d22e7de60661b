/**
 * Measures since when the conditions of Nodes and Machines have their status, by our own monotonic clock. Neither another reason
 * or message nor a detector or controller that restarts resets it; another status does, and another Node of the same name.
 */
import { isDeepStrictEqual } from 'node:util';
import { textAt, valueAt } from '../../kube/objects/json.ts';
import { ageMsAt, type TimePoint } from './time-point.ts';

export interface TimedCondition {
  readonly from: 'Node' | 'Machine';
  readonly status: string;
  readonly reason: string | undefined;
  /** When the status began, on the monotonic clock, and as a timestamp (in ms, too) that does not vary. */
  readonly sinceMs: number;
  readonly sinceTime: number;
  /** When the condition changed last, as its writer reported it by its own clock. */
  readonly transitionTime: string | undefined;
  readonly transitions: number;
  /** Changes of the status within the last hour. */
  readonly changesMs: readonly number[];
  /** Every change since this time was observed. */
  readonly completeMs: number;
  /** When its writer last wrote it. */
  readonly writtenMs: number;
  /** The condition as it was written last. */
  readonly object: unknown;
}

export interface ConditionHistory {
  readonly nodeUID: string | undefined;
  readonly types: ReadonlyMap<string, TimedCondition>;
  readonly bootID: string | undefined;
  /** When a new boot of this Node was observed. */
  readonly bootedMs: number | undefined;
  /** Whether a Machine was observed. Before the first one there is no record of an earlier process. */
  readonly hasMachine: boolean;
}

/** The parts of a Node and its Machine that this clock reads. */
export interface ConditionSources {
  readonly nodeUID: string | undefined;
  readonly bootID: string | undefined;
  readonly node: readonly unknown[];
  readonly machine: readonly unknown[];
  /** The recorded faults of the Machine. Undefined without a Machine. */
  readonly faults: readonly unknown[] | undefined;
  /** A command that reads once has observed nothing before: without a record it trusts the writer of a condition. Controllers do not. */
  readonly startsAtTransition?: boolean;
}

export const HOUR_MS = 3_600_000;
/** A condition that toggles more often within an hour is counted as this often. */
const MAX_CHANGES = 100;

export function observeConditions(
  before: ConditionHistory | undefined,
  sources: ConditionSources,
  point: TimePoint,
): ConditionHistory {
  // Another Node has other conditions, even with the same name.
  const known = before?.nodeUID === sources.nodeUID ? before : undefined;
  const records = restorable(known, sources);
  const types = [...conditionsByType(sources)].map(([type, found]): [string, TimedCondition] => {
    const next = observeCondition(known?.types.get(type), found, point);
    const record = recordOf(records, type, next.status);
    if (sources.startsAtTransition !== true) return [type, restoreStart(next, record, point)];
    // A record counts, also one that is younger than the transition: the controllers count from it.
    const start = record === undefined ? undefined : { ...next, ...startAt(point) };
    return [type, start ? restoreStart(start, record, point) : startAtTransition(next, point)];
  });
  return {
    nodeUID: sources.nodeUID,
    types: new Map(types),
    hasMachine: sources.faults !== undefined || known?.hasMachine === true,
    ...observeBoot(known, sources.bootID, point),
  };
}

/**
 * Returns the records that a process may restore. Only the first state of a Machine has records of an earlier process: later
 * ones are our own.
 */
function restorable(
  known: ConditionHistory | undefined,
  { faults = [], nodeUID }: ConditionSources,
): readonly unknown[] {
  return known?.hasMachine ? [] : faults.filter((fault) => textAt(fault, 'nodeUID') === nodeUID);
}

function observeBoot(
  known: ConditionHistory | undefined,
  bootID: string | undefined,
  { ms }: TimePoint,
): Pick<ConditionHistory, 'bootID' | 'bootedMs'> {
  if (!known) return { bootID, bootedMs: undefined };
  const isSame = bootID === undefined || known.bootID === undefined || bootID === known.bootID;
  return { bootID: bootID ?? known.bootID, bootedMs: isSame ? known.bootedMs : ms };
}

interface FoundCondition {
  readonly from: 'Node' | 'Machine';
  readonly condition: unknown;
}

/** Returns the conditions by type. Where both Node and Machine have a condition, that of the Node counts. */
function conditionsByType({ node, machine }: ConditionSources): ReadonlyMap<string, FoundCondition> {
  const found = new Map<string, FoundCondition>();
  for (const condition of machine) put('Machine', condition);
  for (const condition of node) put('Node', condition);
  return found;

  function put(from: FoundCondition['from'], condition: unknown): void {
    const type = textAt(condition, 'type');
    if (type !== undefined) found.set(type, { from, condition });
  }
}

function observeCondition(
  before: TimedCondition | undefined,
  { from, condition }: FoundCondition,
  point: TimePoint,
): TimedCondition {
  // What was not written again keeps its identity, by which changes are found.
  if (before?.from === from && isDeepStrictEqual(condition, before.object)) return before;
  const content = {
    from,
    status: textAt(condition, 'status') ?? '',
    reason: textAt(condition, 'reason'),
    transitionTime: textAt(condition, 'lastTransitionTime'),
    object: condition,
  };
  if (!before) return firstObservation(content, point);
  const writtenMs = point.ms;
  if (content.status === before.status) return { ...before, ...content, writtenMs };
  const changesMs = [...before.changesMs, point.ms]
    .filter((ms) => ms > point.ms - HOUR_MS)
    .slice(-MAX_CHANGES);
  const transitions = before.transitions + 1;
  return { ...before, ...content, ...startAt(point), transitions, changesMs, writtenMs };
}

type ConditionContent = Pick<TimedCondition, 'from' | 'status' | 'reason' | 'transitionTime' | 'object'>;

/**
 * Returns the first record of a condition. The status starts now; since when no change was missed, and when it was written last,
 * is by the clock of the writer, which alone knows what was before we began to observe.
 */
function firstObservation(content: ConditionContent, point: TimePoint): TimedCondition {
  const { transitionTime, object } = content;
  const heartbeat = textAt(object, 'lastHeartbeatTime') ?? transitionTime;
  return {
    ...content,
    ...startAt(point),
    transitions: 0,
    changesMs: NO_CHANGES,
    completeMs: point.ms - (ageMsAt(point, transitionTime) ?? 0),
    writtenMs: point.ms - (ageMsAt(point, heartbeat) ?? 0),
  };
}

const NO_CHANGES: readonly number[] = [];

function startAt({ ms, at }: TimePoint): Pick<TimedCondition, 'sinceMs' | 'sinceTime'> {
  return { sinceMs: ms, sinceTime: at.getTime() };
}

function recordOf(records: readonly unknown[], type: string, status: string): unknown {
  return records.find((fault) => textAt(fault, 'type') === type && textAt(fault, 'status') === status);
}

function startAtTransition(observed: TimedCondition, point: TimePoint): TimedCondition {
  const ageMs = ageMsAt(point, observed.transitionTime);
  if (ageMs === undefined || observed.transitions > 0) return observed;
  return { ...observed, sinceMs: point.ms - ageMs, sinceTime: point.at.getTime() - ageMs };
}

/**
 * Takes over the start that an earlier process recorded, if it is earlier. A status whose beginning this process observed keeps
 * its start.
 */
function restoreStart(observed: TimedCondition, record: unknown, point: TimePoint): TimedCondition {
  const ageMs = ageMsAt(point, textAt(record, 'since'));
  if (ageMs === undefined || observed.transitions > 0) return observed;
  const sinceMs = point.ms - ageMs;
  if (sinceMs >= observed.sinceMs) return observed;
  const sinceTime = point.at.getTime() - ageMs;
  const transitions = valueAt(record, 'transitions');
  return { ...observed, sinceMs, sinceTime, ...(typeof transitions === 'number' && { transitions }) };
}
