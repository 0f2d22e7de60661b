import { describe, expect, it } from 'vitest';
import { readMachineEvents } from '../../../src/console/feeds/machine-events.ts';
import type { Client, ListOptions } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';

interface Asked extends ListOptions {
  readonly plural: string;
}

type Answer = readonly KubeObject[] | Error;

function bed(answer: (asked: Asked) => Answer, more?: string) {
  const asked: Asked[] = [];
  const client = {
    list: ({ plural }: Resource, options: ListOptions = {}) => {
      asked.push({ plural, ...options });
      const items = answer({ plural, ...options });
      if (items instanceof Error) return Promise.reject(items);
      return Promise.resolve({
        items,
        resourceVersion: '1',
        ...(more === undefined ? {} : { continue: more }),
      });
    },
  } as unknown as Client;
  return { client, asked };
}

function job(index: number): KubeObject {
  const creationTimestamp = `2030-01-0${index}T00:00:00Z`;
  return {
    apiVersion: 'v1',
    kind: 'RemedyOperationJob',
    metadata: { name: `job-${index}`, creationTimestamp },
  };
}

function event(reason: string): KubeObject & { readonly reason: string } {
  const eventTime = '2030-01-01T00:00:00Z';
  return { apiVersion: 'v1', kind: 'Event', metadata: { name: reason }, reason, eventTime };
}

const forbidden = new KubeError('Forbidden', 'list events: forbidden');

describe('the events of a machine', () => {
  it('CON-32 are those of its Node, its Machine and its newest jobs, in the one namespace that has them', async () => {
    const { client, asked } = bed(({ plural, fieldSelector = '' }) => {
      if (plural !== 'events') return [1, 2, 3, 4, 5, 6, 7].map(job);
      return [event(fieldSelector)];
    });
    const { events, problem } = await readMachineEvents(client, 'm-1');
    expect(problem).toBeUndefined();
    expect(events.map(({ reason }) => reason).toSorted()).toEqual([
      'involvedObject.kind=Machine,involvedObject.name=m-1',
      'involvedObject.kind=Node,involvedObject.name=m-1',
      ...[3, 4, 5, 6, 7].map(
        (index) => `involvedObject.kind=RemedyOperationJob,involvedObject.name=job-${index}`,
      ),
    ]);
    const read = asked.filter(({ plural }) => plural === 'events');
    expect(new Set(read.map(({ namespace, limit }) => `${namespace} ${limit}`))).toEqual(
      new Set(['default 500']),
    );
  });

  it('CON-32 name the right that is missing', async () => {
    const { client } = bed(({ plural }) => (plural === 'events' ? forbidden : []));
    expect(await readMachineEvents(client, 'm-1')).toEqual({
      events: [],
      problem: 'you may not list events in namespace default',
    });
  });

  it('are those of Node and Machine where the jobs may not be listed', async () => {
    const { client } = bed(({ plural }) => (plural === 'events' ? [event('Ready')] : forbidden));
    const { events, problem } = await readMachineEvents(client, 'm-1');
    expect([events.length, problem]).toEqual([2, undefined]);
  });

  it('CON-32 state that some are missing when there are too many, and why when the server does not answer', async () => {
    const { client } = bed(() => [], 'next');
    expect((await readMachineEvents(client, 'm-1')).problem).toContain('more than 500 events');
    const away = bed(() => new KubeError('Unreachable', 'connection refused'));
    expect((await readMachineEvents(away.client, 'm-1')).problem).toContain('connection refused');
  });
});
