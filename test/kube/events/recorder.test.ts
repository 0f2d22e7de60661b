import { describe, expect, it } from 'vitest';
import { KubeError, type KubeErrorCode } from '../../../src/kube/client/errors.ts';
import { EVENTS } from '../../../src/kube/events/object.ts';
import { type EventRecorderOptions, type Occurrence } from '../../../src/kube/events/recorder.ts';
import { valueAt } from '../../../src/kube/objects/json.ts';
import { type ObjectServer } from '../../support/kube/object-server.ts';
import { createRecorderBed, failing, machine, rebooted } from '../../support/kube/recorder-bed.ts';

describe('an event', () => {
  it('is written as an events.k8s.io/v1 Event', async () => {
    const { clock, events, all } = createRecorderBed();
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

  it('is in the namespace of its object', async () => {
    const { clock, events, all } = createRecorderBed();
    events.record({ ...rebooted, about: { ...machine, metadata: { name: 'x', namespace: 'here' } } });
    await clock.advance(0);
    expect(all()[0]?.metadata.namespace).toBe('here');
  });

  it('that repeats is counted in the first one, with one write a minute', async () => {
    const { clock, events, all, calls } = createRecorderBed();
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

  it('that repeats before the first write is one Event with a count', async () => {
    const { clock, events, all, calls } = createRecorderBed();
    for (let n = 0; n < 5; n += 1) events.record(rebooted);
    await clock.advance(0);
    await events.close();
    expect(all()).toMatchObject([{ series: { count: 5 } }]);
    expect(calls.length).toBeLessThanOrEqual(2);
  });

  it('is counted further by the next leader, under the same name', async () => {
    const { clock, events, createRecorder, all } = createRecorderBed();
    for (let n = 0; n < 3; n += 1) events.record(rebooted);
    await events.close();
    const next = createRecorder({ instance: 'pod-2' });
    next.record(rebooted);
    next.record(rebooted);
    await clock.advance(0);
    await next.close();
    expect(all()).toMatchObject([{ reportingInstance: 'pod-1', series: { count: 5 } }]);
  });

  it('is created again when the server has deleted it', async () => {
    const { clock, server, events, all } = createRecorderBed();
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
  ])('with %s is another Event', async (_, change) => {
    const { clock, events, all } = createRecorderBed();
    events.record(rebooted);
    events.record({ ...rebooted, ...change });
    await clock.advance(0);
    expect(all()).toHaveLength(2);
  });

  it('contains no secret, and is cut to the limits of the server', async () => {
    const { clock, events, all } = createRecorderBed();
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

describe('a failed write', () => {
  it('is retried', async () => {
    const { clock, events, all, faults } = createRecorderBed();
    faults.push(...failing('Unreachable', 2), ...failing('TooManyRequests', 2));
    events.record(rebooted);
    await clock.advance(10_000);
    expect(all()).toHaveLength(1);
  });

  it('is retried after every temporary failure', async () => {
    const { clock, events, all, faults } = createRecorderBed();
    for (let round = 0; round < 3; round += 1) {
      faults.push(...failing('Unreachable', 7));
      events.record(rebooted);
      await clock.advance(120_000);
    }
    expect(all()).toMatchObject([{ series: { count: 3 } }]);
  });

  it('is dropped and counted after about a minute of failures', async () => {
    const { clock, events, all, faults, metric } = createRecorderBed();
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

  it.each<KubeErrorCode>(['Forbidden', 'Invalid', 'NotFound'])('is not retried for %s', async (code) => {
    const { clock, events, calls, faults, metric } = createRecorderBed();
    faults.push(...failing(code, 1));
    events.record(rebooted);
    await clock.advance(600_000);
    expect(calls).toEqual(['create']);
    expect(await metric('events_dropped_total')).toEqual({ [code]: 1 });
  });

  it('creates one Event when only the answer was lost', async () => {
    const { clock, events, all, server, createRecorder } = createRecorderBed();
    void events;
    let lost = false;
    const client = {
      ...server,
      create: async (...args: Parameters<ObjectServer['create']>) => {
        await server.create(...args);
        if (lost) return;
        lost = true;
        throw new KubeError('Timeout', 'no answer');
      },
    };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the port is generic
    const other = createRecorder({ client: client as unknown as EventRecorderOptions['client'] });
    other.record(rebooted);
    await clock.advance(5000);
    expect(all()).toHaveLength(1);
    await other.close();
  });
});

describe('close', () => {
  it('writes waiting events, and accepts no more', async () => {
    const { clock, events, all, metric } = createRecorderBed();
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

  it('does not retry failed writes', async () => {
    const { events, faults, metric } = createRecorderBed();
    faults.push(...failing('Unreachable', 10));
    events.record(rebooted);
    await events.close();
    expect(await metric('events_dropped_total')).toEqual({ Unreachable: 1 });
  });
});
