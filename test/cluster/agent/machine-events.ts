/** Reads the Events about one Machine. */
import type { Client } from '../../../src/kube/client/client.ts';
import { EVENTS } from '../../../src/kube/events/object.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';

export interface EventObject extends KubeObject {
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly name: string };
}

export async function eventsAbout(client: Client, machine: string): Promise<readonly EventObject[]> {
  const { items } = await client.list<EventObject>(EVENTS, { namespace: 'default' });
  return items.filter(({ regarding }) => regarding.name === machine);
}
