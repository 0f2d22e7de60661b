import { describe, expect, it } from 'vitest';
import { KubeError } from '../../../../src/kube/client/errors.ts';
import {
  createStatusReports,
  type StatusReports,
} from '../../../../src/kube/controller/writes/status-reports.ts';
import type { Resource } from '../../../../src/kube/objects/object.ts';
import { type VirtualClock, virtualClock } from '../../../support/virtual-clock.ts';

const THINGS: Resource = { group: 'test', version: 'v1', kind: 'Thing', plural: 'things', namespaced: false };

interface Bed {
  readonly clock: VirtualClock;
  readonly reports: StatusReports;
  /** `<ms> <name> <phase>` of each write, at its beginning. */
  readonly writes: string[];
  readonly failures: string[];
  readonly report: (name: string, phase: string, delayMs?: number) => void;
}

function bed({ takesMs = 0, error }: { takesMs?: number; error?: Error } = {}): Bed {
  const clock = virtualClock();
  const writes: string[] = [];
  const failures: string[] = [];
  const reports = createStatusReports({
    clock,
    write: async ({ intent }) => {
      writes.push(
        `${clock.monotonicMs()} ${intent.metadata.name} ${(intent.status as { phase: string }).phase}`,
      );
      await clock.sleep(takesMs);
      if (error) throw error;
    },
    failed: ({ key }, failure) => failures.push(`${key}: ${(failure as Error).message}`),
  });
  const report: Bed['report'] = (name, phase, delayMs = 0) => {
    reports.report(THINGS, { metadata: { name }, status: { phase } }, { key: `key-of-${name}`, delayMs });
  };
  return { clock, reports, writes, failures, report };
}

describe('createStatusReports', () => {
  it('writes what is reported within a moment once, with the last content', async () => {
    const { clock, writes, report } = bed();
    for (const phase of ['one', 'two', 'three']) report('a', phase);
    await clock.advance(10_000);
    expect(writes).toEqual(['100 a three']);
  });

  it('writes once a second, the last content each time', async () => {
    const { clock, writes, report } = bed();
    for (let step = 0; step < 20; step += 1) {
      report('a', String(step));
      await clock.advance(100);
    }
    await clock.advance(10_000);
    expect(writes).toEqual(['100 a 0', '1100 a 10', '2100 a 19']);
  });

  it('does not wait for a second again after a quiet one', async () => {
    const { clock, writes, report } = bed();
    report('a', 'one');
    await clock.advance(5000);
    report('a', 'two');
    await clock.advance(5000);
    expect(writes).toEqual(['100 a one', '5100 a two']);
  });

  it('writes a report that may wait when its time is over, with the last content', async () => {
    const { clock, writes, report } = bed();
    report('a', 'one', 5000);
    await clock.advance(4000);
    report('a', 'two', 5000);
    await clock.advance(10_000);
    expect(writes).toEqual(['5000 a two']);
  });

  it('writes a report that may wait with a later one that may not', async () => {
    const { clock, writes, report } = bed();
    report('a', 'one', 5000);
    await clock.advance(1000);
    report('a', 'two');
    await clock.advance(10_000);
    expect(writes).toEqual(['1000 a two']);
  });

  it('lets a report wait again after one that was written', async () => {
    const { clock, writes, report } = bed();
    report('a', 'one');
    await clock.advance(500);
    report('a', 'two', 5000);
    await clock.advance(10_000);
    expect(writes).toEqual(['100 a one', '5500 a two']);
  });

  it('lets no later report delay one that may not wait', async () => {
    const { clock, writes, report } = bed();
    report('a', 'one');
    report('a', 'two', 5000);
    await clock.advance(10_000);
    expect(writes).toEqual(['100 a two']);
  });

  it('drops a report that waits when a newer status is written directly, and takes the next one', async () => {
    const { clock, reports, writes, report } = bed();
    report('a', 'one', 5000);
    await clock.advance(1000);
    await reports.supersede(THINGS, { metadata: { name: 'a' }, status: {} });
    report('a', 'two');
    await clock.advance(10_000);
    expect(writes).toEqual(['1000 a two']);
  });

  it('writes a report that waits when it is flushed', async () => {
    const { clock, reports, writes, report } = bed();
    report('a', 'one', 5000);
    await clock.advance(1000);
    await reports.flush();
    expect([writes, clock.sleepers]).toEqual([['1000 a one'], 0]);
  });

  it('keeps objects apart', async () => {
    const { clock, writes, report } = bed();
    report('a', 'one');
    report('b', 'one');
    await clock.advance(100);
    expect(writes).toEqual(['100 a one', '100 b one']);
  });

  it('never has two writes of one object under way', async () => {
    const { clock, writes, report } = bed({ takesMs: 5000 });
    report('a', 'one');
    await clock.advance(2000);
    report('a', 'two');
    await clock.advance(2000);
    expect(writes).toEqual(['100 a one']);
    await clock.advance(2500);
    expect(writes).toEqual(['100 a one', '6100 a two']);
  });

  it('drops what is pending when a newer status is written directly, after what is under way', async () => {
    const { clock, reports, writes, report } = bed({ takesMs: 500 });
    report('a', 'one');
    await clock.advance(100);
    report('a', 'two');
    let superseded = false;
    void reports.supersede(THINGS, { metadata: { name: 'a' }, status: {} }).then(() => (superseded = true));
    await clock.advance(499);
    expect(superseded).toBe(false);
    await clock.advance(1);
    expect(superseded).toBe(true);
    await clock.advance(10_000);
    expect(writes).toEqual(['100 a one']);
  });

  it('writes what is pending when it is flushed, without waiting for its second', async () => {
    const { clock, reports, writes, report } = bed();
    report('a', 'one');
    await clock.advance(100);
    report('a', 'two');
    report('b', 'one');
    await reports.flush();
    expect(writes).toEqual(['100 a one', '100 a two', '100 b one']);
    expect(clock.sleepers).toBe(0);
  });

  it('tells which key has to be reconciled again when a write fails', async () => {
    const { clock, failures, report } = bed({ error: new Error('refused') });
    report('a', 'one');
    await clock.advance(100);
    expect(failures).toEqual(['key-of-a: refused']);
  });

  it('reports nothing of an object that was deleted, and fails nothing', async () => {
    const { clock, writes, failures, report } = bed({
      error: new KubeError('NotFound', 'things "a" not found'),
    });
    report('a', 'one');
    await clock.advance(100);
    expect([writes, failures]).toEqual([['100 a one'], []]);
  });
});
