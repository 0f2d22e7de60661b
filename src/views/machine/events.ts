/** Lists what happened to a machine: the Events of its Node, of its Machine and of its jobs. Pure. */
import { textAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { printableLine } from '../../kube/objects/printable.ts';
import type { MachineEventRow } from './detail.ts';

/** As many as a person reads. */
export const MAX_EVENTS = 20;

/** Returns the last events, the newest first. */
export function lastEvents(events: readonly KubeObject[]): readonly MachineEventRow[] {
  return events
    .map(eventRow)
    .toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
    .slice(0, MAX_EVENTS);
}

function eventRow(event: KubeObject): MachineEventRow {
  return {
    at: timeOf(event),
    isWarning: textAt(event, 'type') === 'Warning',
    reason: textOf(event, 'reason'),
    about: subjectOf(event),
    message: printableLine(textOf(event, 'message')),
    count: countOf(event),
    from: textOf(event, 'source', 'component') || textOf(event, 'reportingComponent'),
  };
}

function subjectOf(event: KubeObject): string {
  const kind = textOf(event, 'involvedObject', 'kind');
  const isMachine = kind === 'Node' || kind === 'Machine';
  return isMachine ? kind : `${kind} ${textOf(event, 'involvedObject', 'name')}`;
}

function textOf(event: KubeObject, ...path: readonly string[]): string {
  return textAt(event, ...path) ?? '';
}

/** The last time at which it happened: kubelets and controllers record that in different fields. */
function timeOf({ metadata, ...event }: KubeObject): string {
  const times = [
    textAt(event, 'series', 'lastObservedTime'),
    textAt(event, 'lastTimestamp'),
    textAt(event, 'eventTime'),
  ];
  return times.find((time) => !Number.isNaN(Date.parse(time ?? ''))) ?? metadata.creationTimestamp ?? '';
}

function countOf(event: KubeObject): number {
  const counts = [valueAt(event, 'series', 'count'), valueAt(event, 'count')];
  return counts.find((count) => typeof count === 'number') ?? 1;
}
