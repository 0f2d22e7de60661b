import { describe, expect, it } from 'vitest';
import { EVENTS } from '../../../src/kube/events/object.ts';
import { createRecorderBed, machine, rebooted } from '../../support/kube/recorder-bed.ts';

describe('event limits', () => {
  it('combine the events of one topic with many different notes', async () => {
    const { clock, events, all } = createRecorderBed();
    for (let n = 0; n < 40; n += 1) events.record({ ...rebooted, note: `try ${n}` });
    await clock.advance(0);
    await events.close();
    expect(all()).toHaveLength(11);
    expect(all().at(-1)).toMatchObject({ note: '(several of this kind) try 10', series: { count: 30 } });
  });

  it('drop and count excess events of one object, but not of others', async () => {
    const { clock, events, all, metric } = createRecorderBed();
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

  it('still apply after a day without events', async () => {
    const { clock, events, all } = createRecorderBed();
    events.record(rebooted);
    await clock.advance(86_400_000);
    for (let n = 0; n < 40; n += 1) events.record({ ...rebooted, reason: `Reason${n}` });
    await clock.advance(0);
    expect(all()).toHaveLength(26);
  });

  it('reset for a topic after ten minutes', async () => {
    const { clock, events, all } = createRecorderBed();
    for (let n = 0; n < 12; n += 1) events.record({ ...rebooted, note: `try ${n}` });
    await clock.advance(600_001);
    events.record({ ...rebooted, note: 'another try' });
    await clock.advance(0);
    expect(all().at(-1)).toMatchObject({ note: 'another try' });
  });

  it('bound the events that wait while nothing can be written', async () => {
    const { events, metric, server } = createRecorderBed();
    for (let n = 0; n < 1500; n += 1) {
      events.record({ ...rebooted, about: { ...machine, metadata: { name: `m-${n}` } } });
    }
    expect(server.all(EVENTS)).toEqual([]);
    expect(await metric('events_dropped_total')).toEqual({ 'too many at once': 500 });
    await events.close();
  });
});
