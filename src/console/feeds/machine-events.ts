/** Reads the Events of one machine, with the rights of the client: those of its Node, of its Machine and of its jobs. */
import { REMEDY_OPERATION_JOBS } from '../../api/generated/resources.ts';
import { NAMESPACE_OF_NODE_EVENTS } from '../../api/names.ts';
import type { CallOptions, Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import { NODE_EVENTS } from '../../kube/objects/core-kinds.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import { messageOf } from '../../os/errors.ts';
import type { MachineEventsView } from '../../views/machine/detail.ts';
import { lastEvents } from '../../views/machine/events.ts';

/** The most events of one object. An API server keeps them for an hour by default, and kubelets count what repeats. */
const MAX_OF_OBJECT = 500;
/** A person waits for the drawer. */
const TIMEOUT_MS = 10_000;
/** The newest jobs whose events are read. */
const MAX_JOBS = 5;

type Subject = readonly [kind: string, name: string];

export interface EventsOptions {
  /** Who reads, for the message about a missing right. */
  readonly reader?: string;
  readonly signal?: AbortSignal;
}

/** All objects are cluster-scoped: the API server keeps their Events in one namespace. Never rejects. */
export async function readMachineEvents(
  client: Client,
  machine: string,
  { reader = 'you', signal }: EventsOptions = {},
): Promise<MachineEventsView> {
  const limits: CallOptions = { timeoutMs: TIMEOUT_MS, ...optional('signal', signal) };
  try {
    const jobs = await newestJobs(client, machine, limits);
    const subjects: readonly Subject[] = [
      ['Node', machine],
      ['Machine', machine],
      ...jobs.map((job) => [REMEDY_OPERATION_JOBS.kind, job] as const),
    ];
    const pages = await Promise.all(subjects.map((subject) => eventsOf(client, subject, limits)));
    const isCut = pages.some(({ isComplete }) => !isComplete);
    return {
      events: lastEvents(pages.flatMap(({ items }) => items)),
      ...(isCut && {
        problem: `the machine has more than ${MAX_OF_OBJECT} events: newer ones may be missing`,
      }),
    };
  } catch (error) {
    const because = isKubeError(error, 'Forbidden')
      ? `${reader} may not list events in namespace ${NAMESPACE_OF_NODE_EVENTS}`
      : `the events cannot be read: ${messageOf(error)}`;
    return { events: [], problem: because };
  }
}

async function eventsOf(
  client: Client,
  [kind, name]: Subject,
  limits: CallOptions,
): Promise<{ readonly items: readonly KubeObject[]; readonly isComplete: boolean }> {
  const page = await client.list(NODE_EVENTS, {
    namespace: NAMESPACE_OF_NODE_EVENTS,
    fieldSelector: `involvedObject.kind=${kind},involvedObject.name=${name}`,
    limit: MAX_OF_OBJECT,
    ...limits,
  });
  return { items: page.items, isComplete: page.continue === undefined };
}

/** Returns the names of the newest jobs. None if they may not be listed: then their events are not shown either. */
async function newestJobs(client: Client, machine: string, limits: CallOptions): Promise<readonly string[]> {
  try {
    const { items } = await client.list(REMEDY_OPERATION_JOBS, {
      fieldSelector: `spec.machine.name=${machine}`,
      ...limits,
    });
    return items
      .toSorted((a, b) => createdMs(b) - createdMs(a))
      .slice(0, MAX_JOBS)
      .map(({ metadata }) => metadata.name);
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return [];
    throw error;
  }
}

function createdMs({ metadata }: KubeObject): number {
  return Date.parse(metadata.creationTimestamp ?? '') || 0;
}
