import { describe, expect, it } from 'vitest';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { type AggregatedEvent, createEventAggregator } from '../../../src/kube/events/aggregate.ts';
import { EVENTS } from '../../../src/kube/events/object.ts';
import { writeEvent } from '../../../src/kube/events/writer.ts';
import { createObjectServer } from '../../support/kube/object-server.ts';
import { rebooted } from '../../support/kube/recorder-bed.ts';

const REPORTER = { controller: 'kubenode.dev/machine', instance: 'pod-1' };
const NOW = new Date('2030-01-01T12:00:00Z');

describe('writeEvent', () => {
  it('creates the Event, and updates its count from then on', async () => {
    const server = createObjectServer();
    const entry = entryOf(1);
    await write(server, entry);
    expect(server.all(EVENTS)[0]).not.toHaveProperty('series');
    entry.count = 3;
    await write(server, entry);
    expect(server.all(EVENTS)).toMatchObject([{ series: { count: 3 } }]);
  });

  it('adds to the count of an Event that another process created', async () => {
    const server = createObjectServer();
    await write(server, entryOf(4));
    await write(server, entryOf(2));
    expect(server.all(EVENTS)).toMatchObject([{ series: { count: 6 } }]);
  });

  it('adds to the count of an Event that it may not read, from one on', async () => {
    const server = createObjectServer();
    const unreadable = {
      ...server,
      async get(): Promise<never> {
        throw new KubeError('Forbidden', 'events is forbidden');
      },
    };
    await write(server, entryOf(1));
    await writeEvent(unreadable, entryOf(2), REPORTER, {});
    expect(server.all(EVENTS)).toMatchObject([{ series: { count: 3 } }]);
  });

  it('creates the Event again when the server has deleted it', async () => {
    const server = createObjectServer();
    const entry = entryOf(2);
    await write(server, entry);
    server.remove(EVENTS, entry.name);
    entry.count = 5;
    await write(server, entry);
    expect(server.all(EVENTS)).toMatchObject([{ series: { count: 5 } }]);
  });
});

function entryOf(count: number): AggregatedEvent {
  const entry = createEventAggregator(REPORTER.controller).count(rebooted, NOW, 0);
  if (typeof entry === 'string') throw new Error(entry);
  entry.count = count;
  return entry;
}

async function write(server: ReturnType<typeof createObjectServer>, entry: AggregatedEvent): Promise<void> {
  await writeEvent(server, entry, REPORTER, {});
}
