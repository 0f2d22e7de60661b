import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KubeError, type KubeErrorCode } from '../../../src/kube/client/errors.ts';
import { EVENTS, eventName, eventNote } from '../../../src/kube/events/object.ts';
import {
  createEventRecorder,
  type EventRecorder,
  type EventRecorderOptions,
  type Occurrence,
} from '../../../src/kube/events/recorder.ts';
import { valueAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createMetrics } from '../../../src/kube/process/metrics.ts';
import { createRuntimeMetrics } from '../../../src/kube/process/metrics-runtime.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type ObjectServer, objectServer } from '../../support/object-server.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

const machine = {
  apiVersion: 'kubenode.dev/v1alpha1',
  kind: 'Machine',
  metadata: { name: 'm-1', uid: 'u-1' },
};
const rebooted: Occurrence = {
  about: machine,
  type: 'Normal',
  reason: 'Rebooted',
  action: 'Reboot',
  note: 'it was hung',
};

interface Bed {
  readonly clock: VirtualClock;
  readonly server: ObjectServer;
  readonly events: EventRecorder;
  /** Every call of the client, by verb. */
  readonly calls: string[];
  /** What the next calls are answered with instead. */
  readonly faults: KubeError[];
  readonly all: () => KubeObject[];
  readonly metric: (name: string) => Promise<Record<string, number>>;
  readonly another: (change?: Partial<EventRecorderOptions>) => EventRecorder;
}

function bed(): Bed {
  const clock = virtualClock();
  const server = objectServer();
  const calls: string[] = [];
  const faults: KubeError[] = [];
  const metrics = createMetrics();
  const runtime = createRuntimeMetrics(metrics).events;
  const client = Object.fromEntries(
    (['get', 'create', 'patch'] as const).map((verb) => [
      verb,
      (...given: unknown[]): Promise<unknown> => {
        calls.push(verb);
        const fault = faults.shift();
        return fault
          ? Promise.reject(fault)
          : (server[verb] as (...all: unknown[]) => Promise<unknown>)(...given);
      },
    ]),
  );
  const another: Bed['another'] = (change) =>
    createEventRecorder({
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- generic port
      client: client as unknown as EventRecorderOptions['client'],
      clock,
      random: () => 0,
      log: memoryLog(),
      metrics: runtime,
      controller: 'kubenode.dev/machine',
      instance: 'pod-1',
      ...change,
    });
  return {
    clock,
    server,
    events: another(),
    calls,
    faults,
    another,
    all: () => server.all(EVENTS),
    metric: async (name) => {
      const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith(`kubenode_${name}`));
      return Object.fromEntries(
        lines.map((line) => [/because="([^"]*)"/.exec(line)?.[1] ?? '', Number(line.split(' ').at(-1))]),
      );
    },
  };
}

const failing = (code: KubeErrorCode, times: number): KubeError[] =>
  Array.from({ length: times }, () => new KubeError(code, 'no'));

describe('an event', () => {
  it('is written as events.k8s.io/v1 wants it', async () => {
    const { clock, events, all } = bed();
    events.record({ ...rebooted, related: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'm-1' } } });
    await clock.advance(0);
    expect(all()).toMatchObject([
      {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { namespace: 'default' },
        eventTime: '2030-01-01T12:00:00.000000Z',
        reportingController: 'kubenode.dev/machine',
        reportingInstance: 'pod-1',
        regarding: { ...machine.metadata, apiVersion: 'kubenode.dev/v1alpha1', kind: 'Machine' },
        related: { apiVersion: 'v1', kind: 'Node', name: 'm-1' },
        type: 'Normal',
        reason: 'Rebooted',
        action: 'Reboot',
        note: 'it was hung',
      },
    ]);
    expect(all()[0]?.metadata.name).toMatch(/^m-1\.[0-9a-f]{16}$/);
    expect(all()[0]).not.toHaveProperty('series');
  });

  it('lives in the namespace of what it is about', async () => {
    const { clock, events, all } = bed();
    events.record({ ...rebooted, about: { ...machine, metadata: { name: 'x', namespace: 'here' } } });
    await clock.advance(0);
    expect(all()[0]?.metadata.namespace).toBe('here');
  });

  it('that comes again is counted in the first one, once a minute', async () => {
    const { clock, events, all, calls } = bed();
    for (let second = 0; second < 600; second += 1) {
      events.record(rebooted);
      await clock.advance(1000);
    }
    expect(calls.filter((verb) => verb === 'create')).toHaveLength(1);
    expect(calls.length).toBeLessThanOrEqual(11);
    await events.close();
    expect(all()).toHaveLength(1);
    expect(all()[0]).toMatchObject({
      series: { count: 600, lastObservedTime: '2030-01-01T12:09:59.000000Z' },
    });
  });

  it('that came several times before the first write is one event with a count', async () => {
    const { clock, events, all, calls } = bed();
    for (let n = 0; n < 5; n += 1) events.record(rebooted);
    await clock.advance(0);
    await events.close();
    expect(all()).toMatchObject([{ series: { count: 5 } }]);
    expect(calls.length).toBeLessThanOrEqual(2);
  });

  it('is counted on by the next leader, under the same name', async () => {
    const { clock, events, another, all } = bed();
    for (let n = 0; n < 3; n += 1) events.record(rebooted);
    await events.close();
    const next = another({ instance: 'pod-2' });
    next.record(rebooted);
    next.record(rebooted);
    await clock.advance(0);
    await next.close();
    expect(all()).toMatchObject([{ reportingInstance: 'pod-1', series: { count: 5 } }]);
  });

  it('begins anew when the server has forgotten it', async () => {
    const { clock, server, events, all } = bed();
    events.record(rebooted);
    await clock.advance(0);
    for (const { metadata } of all()) server.remove(EVENTS, metadata);
    events.record(rebooted);
    await clock.advance(60_000);
    expect(all()).toMatchObject([{ series: { count: 2 } }]);
  });

  it.each<[name: string, change: Partial<Occurrence>]>([
    ['another reason', { reason: 'Drained' }],
    ['another action', { action: 'Drain' }],
    ['another type', { type: 'Warning' }],
    ['another note', { note: 'its kernel panicked' }],
    ['another object', { about: { ...machine, metadata: { name: 'm-1', uid: 'u-2' } } }],
  ])('with %s is another event', async (_, change) => {
    const { clock, events, all } = bed();
    events.record(rebooted);
    events.record({ ...rebooted, ...change });
    await clock.advance(0);
    expect(all()).toHaveLength(2);
  });

  it('holds no secret, and no more than the server takes', async () => {
    const { clock, events, all } = bed();
    events.record({
      ...rebooted,
      note: `Bearer ${'s3cr3t'.repeat(4)} ${'ä'.repeat(2000)}`,
      action: 'A'.repeat(300),
    });
    await clock.advance(0);
    const [event] = all();
    expect(JSON.stringify(event)).not.toContain('s3cr3t');
    expect(Buffer.byteLength(String(event?.['note']))).toBeLessThanOrEqual(1024);
    expect(Buffer.byteLength(String(event?.['action']))).toBeLessThanOrEqual(128);
  });
});

describe('too much', () => {
  it('of one topic with ever new notes is said together', async () => {
    const { clock, events, all } = bed();
    for (let n = 0; n < 40; n += 1) events.record({ ...rebooted, note: `try ${n}` });
    await clock.advance(0);
    await events.close();
    expect(all()).toHaveLength(11);
    expect(all().at(-1)).toMatchObject({ note: '(several of this kind) try 10', series: { count: 30 } });
  });

  it('about one object is dropped and counted, and others are heard', async () => {
    const { clock, events, all, metric } = bed();
    for (let n = 0; n < 40; n += 1) events.record({ ...rebooted, reason: `Reason${n}` });
    events.record({ ...rebooted, about: { ...machine, metadata: { name: 'm-2' } } });
    await clock.advance(0);
    expect(all()).toHaveLength(26);
    expect(await metric('events_dropped_total')).toEqual({ 'too many of one object': 15 });
    await clock.advance(300_000);
    events.record({ ...rebooted, reason: 'Later' });
    events.record({ ...rebooted, reason: 'Latest' });
    await clock.advance(0);
    expect(all()).toHaveLength(27);
  });

  it('after a day of silence is still too much', async () => {
    const { clock, events, all } = bed();
    events.record(rebooted);
    await clock.advance(86_400_000);
    for (let n = 0; n < 40; n += 1) events.record({ ...rebooted, reason: `Reason${n}` });
    await clock.advance(0);
    expect(all()).toHaveLength(26);
  });

  it('of one topic is forgotten after ten minutes', async () => {
    const { clock, events, all } = bed();
    for (let n = 0; n < 12; n += 1) events.record({ ...rebooted, note: `try ${n}` });
    await clock.advance(600_001);
    events.record({ ...rebooted, note: 'another try' });
    await clock.advance(0);
    expect(all().at(-1)).toMatchObject({ note: 'another try' });
  });

  it('at once, while nothing can be written, fills no more than its place', async () => {
    const { events, metric, server } = bed();
    for (let n = 0; n < 1500; n += 1) {
      events.record({ ...rebooted, about: { ...machine, metadata: { name: `m-${n}` } } });
    }
    expect(server.version).toBe(0);
    expect(await metric('events_dropped_total')).toEqual({ 'too many at once': 500 });
    await events.close();
  });
});

describe('a server that does not take it', () => {
  it('for now is tried again', async () => {
    const { clock, events, all, faults } = bed();
    faults.push(...failing('Unreachable', 2), ...failing('TooManyRequests', 2));
    events.record(rebooted);
    await clock.advance(10_000);
    expect(all()).toHaveLength(1);
  });

  it('now and then is tried again each time', async () => {
    const { clock, events, all, faults } = bed();
    for (let round = 0; round < 3; round += 1) {
      faults.push(...failing('Unreachable', 7));
      events.record(rebooted);
      await clock.advance(120_000);
    }
    expect(all()).toMatchObject([{ series: { count: 3 } }]);
  });

  it('for a minute and more loses it, and that is counted', async () => {
    const { clock, events, all, faults, metric } = bed();
    faults.push(...failing('Unreachable', 13));
    events.record(rebooted);
    events.record(rebooted);
    await clock.advance(600_000);
    expect(all()).toHaveLength(0);
    expect(await metric('events_dropped_total')).toEqual({ Unreachable: 2 });
    events.record(rebooted);
    await clock.advance(0);
    expect(all()).toHaveLength(1);
  });

  it.each<KubeErrorCode>(['Forbidden', 'Invalid', 'NotFound'])(
    'because of %s is not asked again',
    async (code) => {
      const { clock, events, calls, faults, metric } = bed();
      faults.push(...failing(code, 1));
      events.record(rebooted);
      await clock.advance(600_000);
      expect(calls).toEqual(['create']);
      expect(await metric('events_dropped_total')).toEqual({ [code]: 1 });
    },
  );

  it('but took it, and only its answer was lost, has it once', async () => {
    const { clock, events, all, server, another } = bed();
    void events;
    let lost = false;
    const client = {
      ...server,
      create: async (...given: Parameters<ObjectServer['create']>) => {
        await server.create(...given);
        if (lost) return;
        lost = true;
        throw new KubeError('Timeout', 'no answer');
      },
    };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- generic port
    const other = another({ client: client as unknown as EventRecorderOptions['client'] });
    other.record(rebooted);
    await clock.advance(5000);
    expect(all()).toHaveLength(1);
    await other.close();
  });
});

describe('close', () => {
  it('writes what waits, and takes nothing more', async () => {
    const { clock, events, all, metric } = bed();
    events.record(rebooted);
    await clock.advance(0);
    events.record(rebooted);
    events.record({ ...rebooted, reason: 'Other' });
    await events.close();
    events.record({ ...rebooted, reason: 'Late' });
    expect(all().map((event) => valueAt(event, 'series', 'count'))).toEqual([2, undefined]);
    expect(await metric('events_dropped_total')).toEqual({ closed: 1 });
    expect(clock.sleepers).toBe(0);
  });

  it('does not try again what fails', async () => {
    const { events, faults, metric } = bed();
    faults.push(...failing('Unreachable', 10));
    events.record(rebooted);
    await events.close();
    expect(await metric('events_dropped_total')).toEqual({ Unreachable: 1 });
  });
});

describe('eventName', () => {
  it('is a valid name of the API, whatever the object is called, and always the same', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), fc.string(), (name, note) => {
        const about = { ...machine, metadata: { name } };
        const result = eventName(about, 'topic', note);
        expect(result).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
        expect(result.length).toBeLessThanOrEqual(253);
        expect(eventName(about, 'topic', note)).toBe(result);
      }),
    );
  });
});

describe('eventNote', () => {
  it('cuts at 1024 bytes, never inside a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 100, maxLength: 2000 }), (text) => {
        const note = eventNote(text.replaceAll('\uFFFD', ''));
        expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1024);
        expect(note).not.toContain('\uFFFD');
      }),
    );
  });
});
