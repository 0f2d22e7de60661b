/** Reads the Events of one machine, with the rights of the client: those of its Node, of its Machine and of its jobs. */
import { REMEDY_OPERATION_JOBS } from '../../api/generated/resources.ts';
import { NAMESPACE_OF_NODE_EVENTS } from '../../api/names.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import type { KubeObject, Resource } from '../../kube/objects/object.ts';
import { messageOf } from '../../os/errors.ts';
import type { MachineEventsView } from '../../views/machine/detail.ts';
import { lastEvents } from '../../views/machine/events.ts';

/** Kubelets write core/v1, and the API server serves all Events as such. */
const CORE_EVENTS: Resource = { group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true };
const NO_RIGHT = `you may not list events in namespace ${NAMESPACE_OF_NODE_EVENTS}`;
/** The most events of one object. An API server keeps them for an hour by default, and kubelets count what repeats. */
const MAX_OF_OBJECT = 500;
/** A person waits for the drawer. */
const TIMEOUT_MS = 10_000;
/** The newest jobs whose events are read. */
const MAX_JOBS = 5;

/** All objects are cluster-scoped: the API server keeps their Events in one namespace. Never rejects. */
export async function readMachineEvents(client: Client, machine: string): Promise<MachineEventsView> {
  try {
    const jobs = await newestJobs(client, machine);
    const subjects: readonly (readonly [kind: string, name: string])[] = [
      ['Node', machine],
      ['Machine', machine],
      ...jobs.map((job) => [REMEDY_OPERATION_JOBS.kind, job] as const),
    ];
    const pages = await Promise.all(subjects.map(([kind, name]) => eventsOf(client, kind, name)));
    const isCut = pages.some(({ isComplete }) => !isComplete);
    return {
      events: lastEvents(pages.flatMap(({ items }) => items)),
      ...(isCut && {
        problem: `the machine has more than ${MAX_OF_OBJECT} events: newer ones may be missing`,
      }),
    };
  } catch (error) {
    const because = isKubeError(error, 'Forbidden')
      ? NO_RIGHT
      : `the events cannot be read: ${messageOf(error)}`;
    return { events: [], problem: because };
  }
}

async function eventsOf(
  client: Client,
  kind: string,
  name: string,
): Promise<{ readonly items: readonly KubeObject[]; readonly isComplete: boolean }> {
  const page = await client.list(CORE_EVENTS, {
    namespace: NAMESPACE_OF_NODE_EVENTS,
    fieldSelector: `involvedObject.kind=${kind},involvedObject.name=${name}`,
    limit: MAX_OF_OBJECT,
    timeoutMs: TIMEOUT_MS,
  });
  return { items: page.items, isComplete: page.continue === undefined };
}

/** Returns the names of the newest jobs. None if they may not be listed: then their events are not shown either. */
async function newestJobs(client: Client, machine: string): Promise<readonly string[]> {
  try {
    const { items } = await client.list(REMEDY_OPERATION_JOBS, {
      fieldSelector: `spec.machine.name=${machine}`,
      timeoutMs: TIMEOUT_MS,
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
