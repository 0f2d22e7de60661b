import { describe, expect, it } from 'vitest';
import {
  createStatusReports,
  type StatusReports,
} from '../../../../src/kube/controller/writes/status-reports.ts';
import type { Resource } from '../../../../src/kube/objects/object.ts';
import { settle, type VirtualClock, virtualClock } from '../../../support/virtual-clock.ts';

const THINGS: Resource = { group: 'test', version: 'v1', kind: 'Thing', plural: 'things', namespaced: false };

interface Bed {
  readonly clock: VirtualClock;
  readonly reports: StatusReports;
  /** `<ms> <name> <phase>` of each write, at its beginning. */
  readonly writes: string[];
  readonly failures: string[];
  readonly report: (name: string, phase: string) => void;
}

function bed({ takesMs = 0, fails = false } = {}): Bed {
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
      if (fails) throw new Error('refused');
    },
    failed: ({ key }, error) => failures.push(`${key}: ${(error as Error).message}`),
  });
  const report = (name: string, phase: string): void => {
    reports.report(THINGS, { metadata: { name }, status: { phase } }, `key-of-${name}`);
  };
  return { clock, reports, writes, failures, report };
}

describe('createStatusReports', () => {
  it('writes the first report at once, and of those within a second only the last', async () => {
    const { clock, writes, report } = bed();
    for (const phase of ['one', 'two', 'three']) {
      report('a', phase);
      await clock.advance(300);
    }
    await clock.advance(10_000);
    expect(writes).toEqual(['0 a one', '1000 a three']);
  });

  it('writes at once again after a quiet second', async () => {
    const { clock, writes, report } = bed();
    report('a', 'one');
    await clock.advance(1000);
    report('a', 'two');
    await settle();
    expect(writes).toEqual(['0 a one', '1000 a two']);
  });

  it('keeps objects apart', async () => {
    const { writes, report } = bed();
    report('a', 'one');
    report('b', 'one');
    await settle();
    expect(writes).toEqual(['0 a one', '0 b one']);
  });

  it('never has two writes of one object under way', async () => {
    const { clock, writes, report } = bed({ takesMs: 5000 });
    report('a', 'one');
    await clock.advance(2000);
    report('a', 'two');
    await clock.advance(2000);
    expect(writes).toEqual(['0 a one']);
    await clock.advance(2000);
    expect(writes).toEqual(['0 a one', '6000 a two']);
  });

  it('drops what is pending when a newer status is written directly, after what is under way', async () => {
    const { clock, reports, writes, report } = bed({ takesMs: 500 });
    report('a', 'one');
    report('a', 'two');
    let superseded = false;
    void reports.supersede(THINGS, { metadata: { name: 'a' }, status: {} }).then(() => (superseded = true));
    await clock.advance(499);
    expect(superseded).toBe(false);
    await clock.advance(1);
    expect(superseded).toBe(true);
    await clock.advance(10_000);
    expect(writes).toEqual(['0 a one']);
  });

  it('writes what is pending when it is flushed, without waiting for its second', async () => {
    const { clock, reports, writes, report } = bed();
    report('a', 'one');
    await settle();
    report('a', 'two');
    await reports.flush();
    expect(writes).toEqual(['0 a one', '0 a two']);
    expect(clock.sleepers).toBe(0);
  });

  it('tells which key has to be reconciled again when a write fails', async () => {
    const { failures, report } = bed({ fails: true });
    report('a', 'one');
    await settle();
    expect(failures).toEqual(['key-of-a: refused']);
  });
});
