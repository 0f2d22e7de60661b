import { describe, expect, it, onTestFinished } from 'vitest';
import { createServerVersionsReader } from '../../../../src/controllers/componentset/servers/read-versions.ts';
import {
  createServerView,
  type PublishedServers,
  publishedServers,
} from '../../../../src/controllers/componentset/servers/server-view.ts';
import type { ListOptions, WatchOptions } from '../../../../src/kube/client/client.ts';
import type { Resource } from '../../../../src/kube/objects/object.ts';
import { createSmallServer, type SmallServer } from '../../../support/kube/small-server.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { settle, type VirtualClock, virtualClock } from '../../../support/virtual-clock.ts';

interface Bed {
  readonly servers: PublishedServers;
  readonly server: SmallServer;
  readonly clock: VirtualClock;
  /** What was asked for. */
  readonly asked: object[];
}

function bed(...addresses: readonly string[]): Bed {
  const clock = virtualClock();
  const server = createSmallServer(clock);
  if (addresses.length > 0) publish(server, ...addresses);
  const asked: object[] = [];
  const note = ({ plural }: Resource, { namespace, fieldSelector }: ListOptions = {}): void => {
    asked.push({ plural, namespace, fieldSelector });
  };
  const pages = (resource: Resource, options?: ListOptions): ReturnType<SmallServer['pages']> => {
    note(resource, options);
    return server.pages(resource, options);
  };
  const watch = (resource: Resource, options: WatchOptions): ReturnType<SmallServer['watch']> => {
    note(resource, options);
    return server.watch(resource, options);
  };
  const client = { ...server, pages: pages as SmallServer['pages'], watch };
  const view = createServerView({ client, clock, random: () => 0, log: memoryLog() });
  const stop = new AbortController();
  const running = view.reflector.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  return { servers: publishedServers(view), server, clock, asked };
}

function publish(server: SmallServer, ...addresses: readonly string[]): void {
  server.put('kubernetes', { endpoints: [{ addresses }], ports: [{ port: 6443 }] });
}

describe('createServerView', () => {
  it('ROL-64 reads one EndpointSlice by its name, which its right is limited to', async () => {
    const { asked } = bed('10.0.0.1');
    await settle();
    const slice = {
      plural: 'endpointslices',
      namespace: 'default',
      fieldSelector: 'metadata.name=kubernetes',
    };
    expect(asked).toEqual([slice, slice]);
  });

  it('ROL-64 lists once, however often a set with a kubelet is reconciled, and knows each change', async () => {
    const { servers, server, clock } = bed('10.0.0.1');
    await settle();
    const read = createServerVersionsReader({
      client: { server: 'https://lb:443', raw: async () => ({ gitVersion: 'v1.35.0' }) },
      servers,
      connectTo: async () => ({ raw: async () => ({ gitVersion: 'v1.34.2' }), close: async () => {} }),
      clock,
    });
    for (let reconciles = 0; reconciles < 60; reconciles += 1) {
      if (reconciles === 30) publish(server, '10.0.0.1', '10.0.0.2');
      // oxlint-disable no-await-in-loop -- one after the other
      await clock.advance(30_000);
      const versions = ['v1.35.0', 'v1.34.2', ...(reconciles < 30 ? [] : ['v1.34.2'])];
      expect(await read()).toEqual({ state: 'Known', versions });
      // oxlint-enable no-await-in-loop
    }
    expect(server.requests.filter((request) => request.startsWith('list'))).toEqual(['list 500']);
  });
});

describe('publishedServers', () => {
  it('ROL-53 does not know them before the first list, nor without contact to the API server', async () => {
    const { servers, server, clock } = bed('10.0.0.1');
    server.bookmarks = false;
    server.watchFaults.push({ fault: 'freeze' });
    expect(servers.staleReason()).toBe('EndpointSlice: initial list not complete');
    await settle();
    expect(servers.staleReason()).toBeUndefined();
    expect(servers.urls()).toEqual(['https://10.0.0.1:6443']);
    await clock.advance(151_000);
    expect(servers.staleReason()).toBe('EndpointSlice: no contact with the API server for 151 s');
  });

  it('ROL-53 knows that a control plane publishes none', async () => {
    const { servers } = bed();
    await settle();
    expect(servers.staleReason()).toBeUndefined();
    expect(servers.urls()).toEqual([]);
  });
});
