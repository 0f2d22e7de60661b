import { describe, expect, it } from 'vitest';
import type { MachineComponentSetStatus } from '../../../../src/api/generated/types.ts';
import { fitSetStatus, MAX_STATUS_BYTES } from '../../../../src/controllers/componentset/status/size.ts';
import { ago, condition } from '../../../support/builders.ts';
import { BATCH, COMPLETED, member, NEW, progressOf } from '../rollout/rollout-input.ts';
import { statusOf } from './set-report.ts';

/** Without what checks found. */
function countsOf({ batch }: MachineComponentSetStatus): unknown {
  return batch?.gates?.map((gate) => ({ ...gate, message: '' }));
}

const LONG = '漢'.repeat(1024);

function bytes(status: MachineComponentSetStatus): number {
  return Buffer.byteLength(JSON.stringify(status));
}

/** Names of 63 letters, the longest. */
function nameOf(index: number): string {
  return `m-${index}-`.padEnd(63, 'x');
}

const HISTORY = Array.from({ length: 10 }, (_, index) => ({
  revision: `r-0000000${index}`,
  components: Array.from({ length: 32 }, (_unused, each) => `component-${each}-`.padEnd(81, 'x')),
  startedAt: ago(100),
  finishedAt: ago(50),
  result: 'Superseded' as const,
  commit: 'c'.repeat(64),
  reason: 'FailureBudgetSpent',
  message: LONG.slice(0, 256),
}));

describe('fitSetStatus', () => {
  it('ROL-62 keeps the status of 10,000 machines within 16 KiB, with the longest names and messages', () => {
    const members = Array.from({ length: 10_000 }, (_, index) =>
      member(nameOf(index), {
        at: NEW,
        batch: 1,
        step: index % 2 === 0 ? 'Failed' : 'Settled',
        reason: 'RolledBack',
        because: `app: ${LONG}`,
        unavailable: `app: ${LONG}`,
      }),
    );
    const status = statusOf({
      members,
      progress: progressOf({ batch: { ...BATCH, size: 10_000 }, history: [COMPLETED, ...HISTORY.slice(1)] }),
      rollout: { failure: { maxFailed: 0, per: 'Rollout', onFailure: 'Pause' } },
      denials: [],
    });
    expect(bytes(status)).toBeLessThanOrEqual(MAX_STATUS_BYTES);
    expect(status.failedMachines?.length).toBeGreaterThanOrEqual(5);
    expect(status.counts).toMatchObject({ selected: 10_000, failed: 5_000, updated: 5_000 });
    expect(status.history?.map(({ revision, result }) => [revision, result])).toEqual(
      [COMPLETED, ...HISTORY.slice(1)].map(({ revision, result }) => [revision, result]),
    );
  });

  it('ROL-62 keeps what 16 checks counted, and shortens what they found', () => {
    const gates = Array.from({ length: 16 }, (_, index) => ({
      name: nameOf(index),
      asked: '0123456789ab',
      ranAt: ago(5),
      result: 'Unknown' as const,
      consecutive: 100,
      failures: 100,
      inconclusive: 100,
      message: LONG.slice(0, 256),
    }));
    const large = {
      conditions: [condition('Ready', 'False', { message: LONG })],
      history: HISTORY,
      batch: { index: 1, gates },
      checks: gates.map(({ name }) => ({
        name,
        result: 'Inconclusive' as const,
        value: LONG.slice(0, 64),
        since: ago(5),
      })),
    } satisfies MachineComponentSetStatus;
    const found = fitSetStatus(large);
    expect(bytes(found)).toBeLessThanOrEqual(MAX_STATUS_BYTES);
    expect(countsOf(found)).toEqual(countsOf(large));
    expect(found.batch?.gates?.[0]?.message).toBe(`${LONG.slice(0, 63)}…`);
  });

  it('S36 keeps names and times of all windows and freezes in force, and shortens the reasons last', () => {
    const times = {
      spec: `sha256:${'0'.repeat(64)}`,
      declared: `sha256:${'1'.repeat(64)}`,
      windows: Array.from({ length: 16 }, (_, index) => ({
        name: nameOf(index),
        days: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const,
        start: '22:00',
        end: '04:00',
        timeZone: 'America/Argentina/ComodRivadavia'.padEnd(64, 'x'),
      })),
      freezes: Array.from({ length: 32 }, (_, index) => ({
        name: nameOf(index),
        from: ago(100),
        until: ago(-100),
        reason: LONG.slice(0, 256),
      })),
    };
    const large = { conditions: [condition('Ready', 'False', { message: LONG })], closedTimes: times };
    const found = fitSetStatus(large);
    expect(bytes(found)).toBeLessThanOrEqual(MAX_STATUS_BYTES);
    const shorter = times.freezes.map((freeze) => ({ ...freeze, reason: `${LONG.slice(0, 31)}…` }));
    expect(found.closedTimes).toEqual({ ...times, freezes: shorter });
  });

  it('ROL-62 changes nothing in a status that is small enough', () => {
    const status = statusOf({ members: [member('a')] });
    expect(fitSetStatus(status)).toBe(status);
  });

  it('ROL-62 is stable: what fits is not reduced again', () => {
    const large = {
      conditions: [condition('Ready', 'False', { message: LONG })],
      history: HISTORY,
    } satisfies MachineComponentSetStatus;
    const once = fitSetStatus(large);
    expect(bytes(once)).toBeLessThanOrEqual(MAX_STATUS_BYTES);
    expect(fitSetStatus(once)).toBe(once);
    expect(once.conditions[0]?.message).toBe(LONG);
    expect(once.history?.[0]?.components).toHaveLength(32);
  });
});
