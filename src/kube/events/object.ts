/** Builds events.k8s.io/v1 Events that the API server accepts. Pure: the same occurrence gets the same name. */
import { createHash } from 'node:crypto';
import { formatMicroTime } from '../leader/record.ts';
import type { KubeObject, Resource } from '../objects/object.ts';
import { redactText } from '../process/redact-log.ts';

export const EVENTS: Resource = {
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
};

export type EventSubject = Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>;

/** Something that happened to an object. */
export interface Occurrence {
  readonly about: EventSubject;
  readonly related?: EventSubject;
  readonly type: 'Normal' | 'Warning';
  /** CamelCase: why. */
  readonly reason: string;
  /** CamelCase: the action that was taken or tried. */
  readonly action: string;
  /** The message for people. It may vary. */
  readonly note: string;
}

export interface EventReporter {
  /** A qualified name: kubenode.dev/machine. */
  readonly controller: string;
  /** The process. Not part of the identity of an event, so that the next leader continues the count. */
  readonly instance: string;
}

// Limits of the API server's validation, in bytes.
const MAX_NOTE = 1024;
const MAX_WORD = 128;
const MAX_NAME = 253;
const HASH = 16;
// The API server accepts Events about cluster-scoped objects only in this namespace.
const CLUSTER_NAMESPACE = 'default';

/** Events with the same topic differ only in their note. */
export function eventTopic({ about, related, type, reason, action }: Occurrence, controller: string): string {
  return JSON.stringify([
    controller,
    subjectKey(about),
    related ? subjectKey(related) : '',
    type,
    reason,
    action,
  ]);
}

export function subjectKey({ apiVersion, kind, metadata }: EventSubject): string {
  return JSON.stringify([apiVersion, kind, metadata.namespace ?? '', metadata.name, metadata.uid ?? '']);
}

export function eventName(about: EventSubject, topic: string, note: string): string {
  const hash = createHash('sha256').update(topic).update('\u0000').update(note).digest('hex').slice(0, HASH);
  // Other kinds allow names that Events do not: `system:node`, capitals, a `-` at the end of a part.
  const parts = about.metadata.name
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, '-')
    .slice(0, MAX_NAME - HASH - 1)
    .split('.');
  const readable = parts
    .map((part) => part.replaceAll(/^-+|-+$/g, ''))
    .filter(Boolean)
    .join('.');
  return `${readable === '' ? 'object' : readable}.${hash}`;
}

export function eventNamespace({ metadata }: EventSubject): string {
  return metadata.namespace ?? CLUSTER_NAMESPACE;
}

export interface EventTimes {
  readonly count: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

export function buildEvent(
  name: string,
  occurrence: Occurrence,
  reporter: EventReporter,
  times: EventTimes,
): KubeObject {
  const { about, related, type, reason, action, note } = occurrence;
  return {
    apiVersion: `${EVENTS.group}/${EVENTS.version}`,
    kind: EVENTS.kind,
    metadata: { name, namespace: eventNamespace(about) },
    eventTime: formatMicroTime(times.firstAt),
    reportingController: reporter.controller,
    reportingInstance: cutBytes(reporter.instance, MAX_WORD),
    regarding: referenceTo(about),
    ...(related ? { related: referenceTo(related) } : {}),
    type,
    reason: cutBytes(reason, MAX_WORD),
    action: cutBytes(action, MAX_WORD),
    note,
    ...(times.count > 1 ? { series: eventSeries(times.count, times.lastAt) } : {}),
  };
}

export function eventSeries(count: number, lastAt: Date): Readonly<Record<string, unknown>> {
  return { count, lastObservedTime: formatMicroTime(lastAt) };
}

/** Redacted, and cut to the limit of the server. */
export function eventNote(text: string): string {
  return cutBytes(redactText(text), MAX_NOTE);
}

function referenceTo({ apiVersion, kind, metadata }: EventSubject): Readonly<Record<string, unknown>> {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    apiVersion,
    kind,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

function cutBytes(text: string, max: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= max) return text;
  const mark = '…';
  // A character that was cut becomes a replacement character, which is dropped.
  const part = new TextDecoder().decode(bytes.subarray(0, max - Buffer.byteLength(mark)));
  return `${part.replace(/\uFFFD+$/, '')}${mark}`;
}
