import { describe, expect, it } from 'vitest';
import type { ClusterApplyReport } from '../../../../src/api/generated/types.ts';
import {
  createReportWriter,
  type DueReport,
  type ReportWriter,
} from '../../../../src/sync/hub/split-leases/report-writer.ts';
import { type MemoryLog, memoryLog } from '../../../support/memory-log.ts';
import { type VirtualClock, virtualClock } from '../../../support/virtual-clock.ts';

describe('createReportWriter', () => {
  it('repeats a write that failed, without another change, with growing delays', async () => {
    const { writer, hub, written, clock, log } = bed();
    hub.fails = true;
    writer.write('x');
    await clock.advance(500);
    expect(log.lines).toHaveLength(2);
    await clock.advance(500);
    expect(log.lines).toHaveLength(2);
    hub.fails = false;
    await clock.advance(500);
    expect(written).toEqual(['first']);
  });

  it('writes what changed during a write after it, and never two at a time', async () => {
    const { writer, hub, written } = bed();
    writer.write('x');
    hub.due = report('second');
    writer.write('x');
    await writer.close();
    expect(written).toEqual(['first']);
    const other = bed();
    other.writer.write('x');
    other.hub.due = report('second');
    other.writer.write('x');
    await other.settled();
    expect(other.written).toEqual(['first', 'second']);
  });

  it('writes a report once that the hub returns differently', async () => {
    const { writer, hub, written, settled } = bed();
    hub.keeps = false;
    writer.write('x');
    await settled();
    expect(written).toEqual(['first']);
  });

  it('writes nothing when nothing is due, or after its end', async () => {
    const { writer, hub, written, settled } = bed();
    hub.due = undefined;
    writer.write('x');
    await settled();
    hub.due = report('late');
    await writer.close();
    writer.write('x');
    await settled();
    expect(written).toEqual([]);
  });

  it('ends at once while a failed write waits for its repetition', async () => {
    const { writer, hub, written, settled } = bed();
    hub.fails = true;
    writer.write('x');
    await settled();
    await writer.close();
    expect(written).toEqual([]);
  });
});

interface Bed {
  readonly writer: ReportWriter;
  readonly hub: { due: DueReport | undefined; fails: boolean; keeps: boolean };
  /** Messages of the reports, in the order of writing. */
  readonly written: (string | undefined)[];
  readonly clock: VirtualClock;
  readonly log: MemoryLog;
  readonly settled: () => Promise<void>;
}

function bed(): Bed {
  const clock = virtualClock();
  const log = memoryLog();
  const written: (string | undefined)[] = [];
  const hub: Bed['hub'] = { due: report('first'), fails: false, keeps: true };
  const writer = createReportWriter({
    clock,
    log,
    random: () => 1,
    due: () => hub.due,
    write: async (_, next) => {
      if (hub.fails) throw new Error('the hub does not answer');
      written.push(next?.message);
      if (hub.keeps && hub.due?.report === next) hub.due = undefined;
    },
  });
  return { writer, hub, written, clock, log, settled: () => clock.advance(0) };
}

function report(message: string): DueReport {
  return { report: { message } as ClusterApplyReport };
}
