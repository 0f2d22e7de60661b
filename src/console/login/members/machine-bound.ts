/**
 * Ends the reading of a cluster that has more machines than places are taken for. They were counted before, and a cluster grows, may have
 * forbidden the count, or counts wrongly.
 */
import { MACHINES } from '../../../api/generated/resources.ts';
import type { Client, ListPage, WatchEvent } from '../../../kube/client/client.ts';
import { KubeError } from '../../../kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../kube/objects/object.ts';

export interface BoundPlaces {
  /** The number of machines that may be read. */
  readonly held: number;
  /** Takes further places. Returns how many, or undefined when there are none. */
  readonly takeMore: () => number | undefined;
}

export interface BoundClient {
  readonly client: Client;
  /** Aborted with the reason when there were too many machines. */
  readonly exceeded: AbortSignal;
}

export function boundMachines(client: Client, { held, takeMore }: BoundPlaces): BoundClient {
  const exceeded = new AbortController();
  let places = held;
  /** The machines that a view of this client keeps. */
  let names = new Set<string>();

  return {
    client: {
      ...client,
      pages: (resource, options) => {
        const pages = client.pages(resource, options);
        return isMachines(resource) ? boundPages(pages) : pages;
      },
      watch: (resource, options) => {
        const events = client.watch(resource, options);
        return isMachines(resource) ? boundEvents(events) : events;
      },
    } as Client,
    exceeded: exceeded.signal,
  };

  /** Checks each page before the next one is read: the whole list could take any memory. */
  async function* boundPages(pages: AsyncIterable<ListPage>): AsyncGenerator<ListPage> {
    names = new Set();
    for await (const page of pages) {
      for (const { metadata } of page.items) names.add(metadata.name);
      check();
      yield page;
    }
  }

  async function* boundEvents(events: AsyncIterable<WatchEvent>): AsyncGenerator<WatchEvent> {
    for await (const event of events) {
      follow(event);
      check();
      yield event;
    }
  }

  function follow({ type, object }: WatchEvent): void {
    const { name }: KubeObject['metadata'] = object.metadata;
    if (type === 'DELETED') names.delete(name);
    else if (type !== 'BOOKMARK') names.add(name);
  }

  function check(): void {
    while (names.size > places) {
      const more = takeMore();
      if (more === undefined) throw exceed();
      places += more;
    }
  }

  function exceed(): KubeError {
    const reason = `it has more than ${places} machines, and there are no more places: it is counted again`;
    exceeded.abort(new Error(reason));
    return new KubeError('BadAnswer', reason);
  }
}

function isMachines({ group, plural }: Resource): boolean {
  return group === MACHINES.group && plural === MACHINES.plural;
}
