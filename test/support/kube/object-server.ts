/** A client of an API server in memory that serves Leases and Events, and what tests ask that server past the client. */
import type { Client } from '../../../src/kube/client/client.ts';
import { EVENTS } from '../../../src/kube/events/object.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import type { KubeObject, ObjectName, Resource } from '../../../src/kube/objects/object.ts';
import { createMemoryApi } from '../controller/memory-api.ts';
import { virtualClock } from '../virtual-clock.ts';

export interface ObjectServer extends Client {
  object(resource: Resource, name: ObjectName): KubeObject | undefined;
  remove(resource: Resource, name: ObjectName): void;
  all(resource: Resource): readonly KubeObject[];
  /** How many writes changed something. */
  version(): number;
}

export function createObjectServer(clock = virtualClock()): ObjectServer {
  const api = createMemoryApi({ clock, kinds: [{ resource: LEASES }, { resource: EVENTS }] });
  const { objects } = api;
  return {
    ...api.connection().client(),
    object: (resource, name) => objects.find({ resource }, name),
    remove: (resource, name) => void objects.delete({ resource }, name),
    all: (resource) => objects.list({ resource }),
    version: () => objects.revision,
  };
}
