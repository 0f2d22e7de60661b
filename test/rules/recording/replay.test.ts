import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MachineRemedyWait } from '../../../src/api/generated/types.ts';
import { FACT_KINDS } from '../../../src/rules/catalog.ts';
import type { FactRef, MaxAge, Reading } from '../../../src/rules/compiled-rule.ts';
import type { LiveFacts } from '../../../src/rules/live/live-facts.ts';
import { LEASE_SILENT_MS, type RecordedLine } from '../../../src/rules/recording/format.ts';
import { parseRecordedLine } from '../../../src/rules/recording/parse-line.ts';
import { createReplay, type Replay } from '../../../src/rules/recording/replay.ts';
import { maintenanceEvent } from '../../support/maintenance.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { remedyJob } from '../../support/remediers.ts';
import { NOW } from '../../support/virtual-clock.ts';
import { refOf } from '../live/facts-bed.ts';
import { type RecordingBed, recordingBed } from './recording-bed.ts';

const READ: readonly FactRef[] = [
  refOf('condition', { type: 'Ready' }),
  refOf('condition', { type: 'FrequentTaskHung' }),
  refOf('event', { reason: 'TaskHung', windowSeconds: 600 }),
  refOf('node'),
  refOf('component', { name: 'kubelet' }),
  refOf('disk', { filesystem: 'imagefs' }),
  refOf('probe', { name: 'dns' }),
  refOf('history', { action: 'Reboot', windowSeconds: 3600 }),
  refOf('diagnosis'),
  refOf('maintenance'),
  refOf('xid', { codes: [79], windowSeconds: 60 }),
  refOf('workload'),
  refOf('metric', { query: 'up' }),
  refOf('fleet', { scope: 'kernelVersion', faultClass: 'Kernel', windowSeconds: 600 }),
];
const AGES = new Map<string, MaxAge>([...FACT_KINDS].map(([name, { maxAge }]) => [name, maxAge]));

type Facts = Pick<LiveFacts, 'read' | 'unknownReason'>;

function readingsOf(facts: Facts): unknown {
  const read = facts.read('m-1', AGES);
  return READ.map((ref) => [ref.key, withoutBeats(read(ref)), facts.unknownReason('m-1', ref, AGES)]);
}

/** Between two heartbeats the age of the last one is not recorded. */
function withoutBeats({ heartbeatAgeSeconds: age, ...reading }: Reading): object {
  const isRecent = typeof age === 'number' && age * 1000 <= LEASE_SILENT_MS + 1000;
  return { ...reading, heartbeatAgeSeconds: isRecent ? 'recent' : age };
}

/** As they come from a file. */
function applyUntil(replay: Replay, lines: readonly RecordedLine[], untilMs: number): number {
  let applied = 0;
  for (const line of lines) {
    const parsed = parseRecordedLine(JSON.stringify(line));
    if ('problem' in parsed) throw new Error(parsed.problem);
    if (parsed.atMs > untilMs) break;
    replay.advanceTo(parsed.atMs);
    replay.apply(parsed.line);
    applied += 1;
  }
  replay.advanceTo(untilMs);
  return applied;
}

function waits(n: number, every: number, since: string): readonly MachineRemedyWait[] {
  const faultClass = n % 5 === 0 ? 'Kernel' : 'Disk';
  return n % every === 0 ? [{ rule: 'r', faultClass, reason: 'Denied', since }] : [];
}

/** The machine of the jobs. */
const OWN = { metadata: { uid: 'uid-m-1' } } as const;

const ACTIONS: readonly ((bed: RecordingBed, n: number) => void)[] = [
  (bed, n) => {
    const at = bed.now().toISOString();
    const matched = {
      type: 'Matched',
      status: 'True',
      reason: 'Found',
      message: 'm',
      lastTransitionTime: at,
    };
    bed.put(
      'maintenance',
      maintenanceEvent({
        name: `e-${n % 2}`,
        hint: n % 3 === 0,
        ttlSeconds: 60 * n + 60,
        state: n % 4 === 0 ? 'Cancelled' : 'Scheduled',
        metadata: { creationTimestamp: at },
        status: { observedGeneration: 1 + (n % 2), actAt: at, conditions: [matched as never] },
      }),
    );
  },
  (bed, n) => bed.elapse(n * 7),
  (bed, n) => bed.elapse(n * 61),
  (bed, n) => bed.node('m-1', { FrequentTaskHung: n % 2 === 0 ? 'True' : 'False' }),
  (bed, n) => bed.node('m-1', { Ready: ['True', 'False', 'Unknown'][n % 3] ?? '' }),
  (bed, n) => bed.node('m-1', {}, `boot-${n}`),
  (bed) => bed.deleteNode('m-1'),
  (bed) => bed.freeze('m-1'),
  (bed, n) => bed.agent('m-1', n % 2 === 0),
  (bed, n) => {
    const components = [{ name: 'kubelet', state: 'Committed', ready: n % 2 === 0, restarts: n } as never];
    const disk = [{ filesystem: 'imagefs', usedPercent: 10 * (n % 9) } as never];
    const probes = [{ name: 'dns', result: n % 3 === 0 ? 'Fail' : 'Pass' } as never];
    const at = bed.now().toISOString();
    const errors = {
      xid: [{ code: 79, gpu: n % 2, at }],
      xidSince: n % 4 === 0 ? at : '2020-01-01T00:00:00Z',
      bootedAt: n % 3 === 0 ? at : '2020-01-01T00:00:00Z',
    };
    const infra = { state: n % 4 === 0 ? 'Stopped' : 'Running' } as const;
    const conditions = [{ type: 'InfraReady', status: n % 2 === 0 ? 'True' : 'Unknown' } as never];
    const remedyWaits = waits(n, 2, at);
    const facts = { disk, probes, ...errors };
    bed.machine('m-1', {
      ...OWN,
      status: { components, conditions, infra, facts, remedyWaits },
    });
    bed.machine('m-2', { status: { remedyWaits: waits(n, 3, at) } });
    bed.node('m-2', {});
  },
  (bed, n) =>
    bed.event(`e-${n % 2}`, { reason: 'TaskHung', count: n, lastTimestamp: bed.now().toISOString() }),
  (bed, n) => {
    const startedAt = bed.now().toISOString();
    const steps = [{ id: 's1', state: 'Succeeded', startedAt, finishedAt: startedAt } as never];
    const { status, ...job } = remedyJob({
      attempt: 1 + (n % 3),
      ...(n % 2 === 0 && { outcome: 'Succeeded' }),
    });
    bed.job({ ...job, status: { conditions: [], ...status, steps } });
  },
];

/** A Node of which nothing was heard since it was deleted, silent for longer than its facts are valid. */
const NODE_CREATED_AGAIN: [number, number][] = [
  [7, 1],
  [1, 5],
  [5, 1],
  [2, 1],
  [6, 1],
  [1, 6],
];

describe('createReplay', () => {
  it('is tested with every fact', () => {
    expect(new Set(READ.map(({ fact }) => fact))).toEqual(new Set(FACT_KINDS.keys()));
  });

  it('reads the same facts as the controllers read while they were recorded, at every moment', () => {
    const anyStep = fc.tuple(fc.nat(ACTIONS.length - 1), fc.integer({ min: 1, max: 12 }));
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: 1, maxLength: 40 }), (steps) => {
        const bed = recordingBed();
        bed.machine('m-1', OWN);
        bed.synced();
        const replay = createReplay(memoryLog(), +NOW);
        let applied = 0;
        for (const [action, n] of [[7, 2], [2, 1], ...steps] as const) {
          ACTIONS[action]?.(bed, n);
          applied += applyUntil(replay, bed.lines.slice(applied), +bed.now());
          expect(readingsOf(replay.facts)).toEqual(readingsOf(bed.live));
        }
      }),
      { numRuns: 150, examples: [[NODE_CREATED_AGAIN]] },
    );
  });

  it('takes an agent that is still heard of for no change, however long ago its facts were read', () => {
    const bed = recordingBed();
    bed.machine('m-1');
    bed.node('m-1', { Ready: 'True' });
    bed.agent('m-1', true);
    bed.synced();
    const replay = createReplay(memoryLog(), +NOW);
    applyUntil(replay, bed.lines, +NOW);
    const changes: unknown[] = [];
    replay.facts.onChange((change) => changes.push(change));
    replay.advanceTo(+NOW + 600_000);
    const reading = replay.facts.read('m-1', AGES)(refOf('component', { name: 'kubelet' }));
    expect([typeof reading, changes]).toEqual(['object', []]);
  });
});
