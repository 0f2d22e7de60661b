import { describe, expect, it } from 'vitest';
import {
  planDeliveries,
  type ReceiverSelection,
  withDelivered,
} from '../../../src/controllers/notifier/plan.ts';
import { ago } from '../../support/builders.ts';
import { NOW } from '../../support/virtual-clock.ts';
import { notice } from './jobs.ts';

const DAY = 24 * 3600;
const all: ReceiverSelection = { name: 'tickets' };
const pages: ReceiverSelection = { name: 'on-call', severities: ['page'] };
const storage: ReceiverSelection = { name: 'storage', queues: ['storage'] };

describe('the plan of deliveries', () => {
  it.each([
    ['a receiver of everything', [all], {}, ['tickets']],
    ['a receiver of this severity', [pages], {}, ['on-call']],
    ['no receiver of another severity', [pages], { severity: 'ticket' } as const, []],
    ['no receiver of another queue', [storage], {}, []],
    ['a receiver of this queue', [storage], { queue: 'storage' }, ['storage']],
    ['each receiver that takes it', [all, pages, storage], {}, ['tickets', 'on-call']],
    ['a receiver whose step began a day ago, but for a second', [all], { at: ago(DAY - 1) }, ['tickets']],
    ['no receiver after a day', [all], { at: ago(DAY) }, []],
  ])('has %s', (_, routes, parts, expected) => {
    const due = planDeliveries([notice(parts)], routes, { delivered: {}, now: NOW });
    expect(due.map(({ receiver }) => receiver)).toEqual(expected);
  });

  it('has what one receiver has and another has not', () => {
    const delivered = withDelivered({}, [{ receiver: 'tickets', notice: notice() }], NOW);
    expect(delivered).toEqual({ tickets: { s1: NOW.toISOString() } });
    const both = [notice(), notice({ id: 'job-uid-1/s2', stepId: 's2' })];
    const due = planDeliveries(both, [all, pages], { delivered, now: NOW });
    expect(due.map(({ receiver, notice: { stepId } }) => `${receiver} ${stepId}`)).toEqual([
      'tickets s2',
      'on-call s1',
      'on-call s2',
    ]);
  });

  it('has a receiver and a step whose names every object has', () => {
    const odd = notice({ stepId: 'name' });
    const due = planDeliveries([odd], [{ name: 'constructor' }], { delivered: {}, now: NOW });
    expect(due).toHaveLength(1);
    const delivered = withDelivered({}, due, NOW);
    expect(planDeliveries([odd], [{ name: 'constructor' }], { delivered, now: NOW })).toEqual([]);
  });

  it.each([
    [
      'what ended for a receiver of its beginning',
      { sendResolved: true },
      { s1: ago(30) },
      ['job-uid-1/s1/resolved'],
    ],
    ['nothing of an end that it got', { sendResolved: true }, { s1: ago(30), 's1/resolved': ago(9) }, []],
    ['nothing of an end for a receiver that takes none', {}, { s1: ago(30) }, []],
    ['the beginning first', { sendResolved: true }, {}, ['job-uid-1/s1']],
    ['no end of another step', { sendResolved: true }, { s2: ago(30) }, ['job-uid-1/s1']],
  ])('has %s', (_, parts, got, expected) => {
    const notices = [notice(), notice({ event: 'Resolved', id: 'job-uid-1/s1/resolved', at: ago(10) })];
    const due = planDeliveries(notices, [{ ...pages, ...parts }], {
      delivered: { 'on-call': got },
      now: NOW,
    });
    expect(due.map(({ notice: { id } }) => id)).toEqual(expected);
  });

  it('records the end beside the beginning', () => {
    const before = { 'on-call': { s1: ago(60) } };
    const after = withDelivered(
      before,
      [{ receiver: 'on-call', notice: notice({ event: 'Resolved' }) }],
      NOW,
    );
    expect(after).toEqual({ 'on-call': { s1: ago(60), 's1/resolved': NOW.toISOString() } });
  });

  it('keeps the record of a receiver that is not configured any more', () => {
    const before = { former: { s1: ago(60) } };
    const after = withDelivered(before, [{ receiver: 'tickets', notice: notice() }], NOW);
    expect(after).toEqual({ ...before, tickets: { s1: NOW.toISOString() } });
  });
});
