import { describe, expect, it } from 'vitest';
import type { AuditLine } from '../../../src/api/audit/lines.ts';
import type { AuditRecord } from '../../../src/api/audit/record.ts';
import type { DefenderLedger, LedgerGrant } from '../../../src/api/generated/types.ts';
import { LEDGER } from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import { type ActRecorder, createActRecorder } from '../../../src/defender/audit/recorder.ts';
import { createStore, type WritableStore } from '../../../src/kube/cache/store.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';
import { entry, ledgerSpec } from '../builders.ts';

interface Bed {
  readonly clock: VirtualClock;
  readonly ledgers: WritableStore<DefenderLedger>;
  readonly written: AuditLine[];
  leads: boolean;
  broken: boolean;
  start(): ActRecorder;
  put(grants: Readonly<Record<string, LedgerGrant>>): void;
  /** After the interval between two appends. */
  flush(recorder: ActRecorder): Promise<void>;
  acts(): readonly string[];
}

function bed(): Bed {
  const clock = virtualClock();
  const ledgers = createStore<DefenderLedger>({ log: memoryLog() });
  const written: AuditLine[] = [];
  let version = 0;
  const record: AuditRecord = {
    async append(lines) {
      if (bedOf.broken) throw new Error('no answer');
      written.push(...lines);
    },
    latest: async () => ({ lines: [...written], unreadable: 0 }),
  };
  const bedOf: Bed = {
    clock,
    ledgers,
    written,
    leads: true,
    broken: false,
    start: () => createActRecorder({ ledgers, record, clock, leads: () => bedOf.leads }),
    put(grants) {
      version += 1;
      const metadata = { name: LEDGER, resourceVersion: String(version) };
      ledgers.put({
        apiVersion: API_VERSION,
        kind: 'DefenderLedger',
        metadata,
        spec: ledgerSpec({ grants }),
      });
    },
    async flush(recorder) {
      await clock.advance(5000);
      await recorder.flush();
    },
    acts: () => written.map((line) => (line.type === 'act' ? `${line.machine} ${line.grant}` : line.type)),
  };
  return bedOf;
}

function settled(machine: string, id = `g-${machine}`): LedgerGrant {
  return entry(machine, {
    id,
    state: 'Settled',
    settledAt: '2030-01-01T11:58:00.000Z',
    outcome: 'Succeeded',
  });
}

describe('createActRecorder', () => {
  it('S30 records an act that the next one on the machine replaces before the record is written', async () => {
    const test = bed();
    test.put({});
    const recorder = test.start();
    test.put({ 'm-1': settled('m-1', 'g-1') });
    test.put({ 'm-1': settled('m-1', 'g-2') });
    await test.flush(recorder);
    expect(test.acts().toSorted()).toEqual(['m-1 g-1', 'm-1 g-2']);
    await test.flush(recorder);
    expect(test.acts()).toHaveLength(2);
  });

  it('S30 records after a start what the ledger still holds, and nothing twice', async () => {
    const test = bed();
    test.put({ 'm-1': settled('m-1'), 'm-2': settled('m-2') });
    const first = test.start();
    await test.flush(first);
    first.close();
    test.put({ 'm-1': settled('m-1'), 'm-2': settled('m-2'), 'm-3': settled('m-3') });
    await test.flush(test.start());
    expect(test.acts()).toEqual(['m-1 g-m-1', 'm-2 g-m-2', 'm-3 g-m-3']);
  });

  it('S30 keeps the lines while the record cannot be written', async () => {
    const test = bed();
    test.put({ 'm-1': settled('m-1') });
    const recorder = test.start();
    test.broken = true;
    await expect(test.flush(recorder)).rejects.toThrow('no answer');
    // A flush that comes too early appends nothing, and proves nothing.
    await recorder.flush();
    expect([recorder.problem, recorder.waiting]).toEqual(['no answer', 1]);
    test.put({});
    test.broken = false;
    await test.flush(recorder);
    expect(test.acts()).toEqual(['m-1 g-m-1']);
    expect([recorder.problem, recorder.waiting]).toEqual([undefined, 0]);
  });

  it('S30 does not record while another process leads, and what is left when it leads again', async () => {
    const test = bed();
    test.put({});
    const recorder = test.start();
    await test.flush(recorder);
    test.leads = false;
    test.put({ 'm-1': settled('m-1') });
    await test.flush(recorder);
    expect(test.acts()).toEqual([]);
    test.leads = true;
    await test.flush(recorder);
    expect(test.acts()).toEqual(['m-1 g-m-1']);
  });

  it('S30 writes at most once in five seconds, whatever the number of acts', async () => {
    const test = bed();
    test.put({});
    const recorder = test.start();
    await test.flush(recorder);
    test.put({ 'm-1': settled('m-1') });
    await test.clock.advance(4999);
    await recorder.flush();
    expect(test.acts()).toEqual([]);
    await test.clock.advance(1);
    await recorder.flush();
    expect(test.acts()).toEqual(['m-1 g-m-1']);
  });

  it('S30 keeps a bounded number of lines, and counts the others', async () => {
    const test = bed();
    test.put({});
    const recorder = test.start();
    const grants = Array.from({ length: 10_001 }, (_, index) => `m-${index}`);
    test.put(Object.fromEntries(grants.map((name) => [name, settled(name)])));
    expect(recorder.dropped).toBe(1);
    test.put({});
    test.leads = false;
    test.put(Object.fromEntries(grants.map((name) => [name, settled(name, 'g-2')])));
    expect(recorder.dropped).toBe(1);
  });
});
