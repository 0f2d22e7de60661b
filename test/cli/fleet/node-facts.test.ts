import { describe, expect, it } from 'vitest';
import { withSynced } from '../../../src/cli/fleet/node-facts.ts';
import { createView } from '../../../src/kube/cache/view.ts';
import type { Client, ListOptions } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import type { Resource } from '../../../src/kube/objects/object.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const EVENTS: Resource = { group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true };

describe('the facts of a node that a person reads', () => {
  it('CON-32 are asked for in the namespace that is read: a right in one namespace is enough', async () => {
    const asked: string[] = [];
    const client = {
      list: ({ plural }: Resource, { namespace = 'all' }: ListOptions = {}) => {
        asked.push(`${plural} in ${namespace}`);
        return Promise.reject(new KubeError('Forbidden', 'refused'));
      },
    } as unknown as Client;
    const parts = { client, clock: virtualClock(), random: () => 0, log: memoryLog() };
    const views = [
      createView({ ...parts, resource: EVENTS, namespace: 'default' }),
      createView({ ...parts, resource: NODES }),
    ];
    const { signal } = new AbortController();
    await expect(withSynced({ signal }, client, views, () => Promise.resolve())).rejects.toThrow('refused');
    expect(asked).toEqual(['events in default', 'nodes in all']);
  });
});
