/** Reads what the agent reports: components, file systems and probes. As old as the last heartbeat of the agent. */
import { isRecord, listAt, textAt } from '../../../kube/objects/json.ts';
import type { ComponentHistory } from '../../clocks/component-clock.ts';
import { HOUR_MS } from '../../clocks/condition-clock.ts';
import { ageMsAt, ageSecondsAt, type TimePoint } from '../../clocks/time-point.ts';
import { componentFact } from '../component.ts';
import { diskFact } from '../disk.ts';
import { probeFact } from '../probe.ts';
import { type FactAnswer, knownAnswer, type ReadFact, tooOldReason, unknownAnswer } from './answer.ts';
import type { NodeSnapshot } from './snapshot.ts';

type Entry = Readonly<Record<string, unknown>>;
type Find = (snapshot: NodeSnapshot) => Entry | undefined;

export const readComponent: ReadFact = (snapshot, params, maxAgeMs) => {
  const name = String(params['name']);
  const find: Find = ({ machine }) => entryOf(listAt(machine, 'status', 'components'), 'name', name);
  return reportedBy(snapshot, maxAgeMs, [`component ${name}`, find], (entry, leftMs) => {
    const { point, versionOf, components } = snapshot;
    const record = components?.get(name);
    const { restartsPerHour, changesInMs } = restartsOf(record, point);
    const version = versionOf(textAt(entry, 'currentRef') ?? '');
    const { state, ready } = entry;
    const failedSeconds = record?.failedMs === undefined ? 0 : atLeastSome(point.ms - record.failedMs);
    const values = { state, ready, version, restartsPerHour, failedSeconds };
    return knownAnswer(componentFact, values, Math.min(leftMs, changesInMs));
  });
};

export const readDisk: ReadFact = (snapshot, params, maxAgeMs) => {
  const filesystem = String(params['filesystem']);
  const find: Find = ({ machine }) =>
    entryOf(listAt(machine, 'status', 'facts', 'disk'), 'filesystem', filesystem);
  return reportedBy(snapshot, maxAgeMs, [`file system ${filesystem}`, find], (entry, leftMs) => {
    const since = entry['risingSince'];
    const risingMs = ageMsAt(snapshot.point, textAt(entry, 'risingSince'));
    const rising = risingMs === undefined ? undefined : atLeastSome(risingMs);
    const risingSeconds = since === undefined ? 0 : rising;
    return knownAnswer(diskFact, { ...entry, risingSeconds }, leftMs);
  });
};

export const readProbe: ReadFact = (snapshot, params, maxAgeMs) => {
  const name = String(params['name']);
  const find: Find = ({ machine }) => entryOf(listAt(machine, 'status', 'facts', 'probes'), 'name', name);
  return reportedBy(snapshot, maxAgeMs, [`probe ${name}`, find], (entry, leftMs) => {
    const ageSeconds = ageSecondsAt(snapshot.point, textAt(entry, 'at'));
    return knownAnswer(probeFact, { result: entry['result'], ageSeconds }, leftMs);
  });
};

function reportedBy(
  snapshot: NodeSnapshot,
  maxAgeMs: number,
  [what, find]: readonly [string, Find],
  answer: (entry: Entry, leftMs: number) => FactAnswer,
): FactAnswer {
  const { problems, agentAgeMs } = snapshot;
  const problem = problems.machines ?? problems.leases ?? tooOldReason('the agent', agentAgeMs, maxAgeMs);
  if (problem !== undefined) return unknownAnswer(problem);
  const entry = find(snapshot);
  return entry ? answer(entry, maxAgeMs - agentAgeMs) : unknownAnswer(`the agent does not report ${what}`);
}

function entryOf(entries: readonly unknown[], key: string, value: string): Entry | undefined {
  return entries.filter(isRecord).find((entry) => textAt(entry, key) === value);
}

/** Zero means that it does not grow. */
function atLeastSome(ms: number): number {
  return Math.max(1, ms) / 1000;
}

interface Restarts {
  readonly restartsPerHour?: number;
  readonly changesInMs: number;
}

function restartsOf(record: ComponentHistory | undefined, { ms }: TimePoint): Restarts {
  if (!record) return { changesInMs: Infinity };
  const endsInMs = (from: number): number => from + HOUR_MS - ms;
  if (endsInMs(record.completeMs) > 0) return { changesInMs: endsInMs(record.completeMs) };
  const recent = record.restarted.filter((each) => endsInMs(each.ms) > 0);
  const restartsPerHour = recent.reduce((sum, { count }) => sum + count, 0);
  return { restartsPerHour, changesInMs: endsInMs(recent[0]?.ms ?? Infinity) };
}
