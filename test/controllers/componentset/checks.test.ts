/** Checks of component sets, with the real controller, its scheduler and its runner, over an API server in memory. */
import { describe, expect, it } from 'vitest';
import type { Check, MachineComponentSet, Rollout } from '../../../src/api/generated/types.ts';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';
import type { HttpAnswer } from '../../../src/os/net/http-get.ts';
import { type CheckRunner, createCheckRunner } from '../../../src/rollout/checks/runner.ts';
import { stride } from '../../support/sweep-size.ts';
import { createFleetBed, type FleetBed } from './fleet-bed.ts';
import { askingCheck } from './rollout/rollout-input.ts';

type Get = (url: string, signal: AbortSignal) => Promise<HttpAnswer>;

const RATIO = 'sum(errors{node=~"${batch}"}) / sum(errors{node=~"${rest}"})';

interface CheckedParts {
  readonly machines?: number;
  readonly checks: readonly Check[];
  readonly get: Get;
  readonly soakSeconds?: number;
  readonly onFailure?: Rollout['failure']['onFailure'];
}

function checkedBed({
  machines = 3,
  checks,
  get,
  soakSeconds = 12,
  onFailure = 'Pause',
}: CheckedParts): FleetBed {
  // The clock of the bed exists only after it was made.
  const late: { runner?: CheckRunner } = {};
  const checkRunner: CheckRunner = {
    run: async (check, subject) => {
      if (!late.runner) throw new Error('not made yet');
      return await late.runner.run(check, subject);
    },
  };
  const bed = createFleetBed({
    machines,
    checkRunner,
    rollout: {
      gate: { soakSeconds, checks: [...checks], approval: 'None' },
      failure: { maxFailed: 0, per: 'Rollout', onFailure },
    },
  });
  late.runner = createCheckRunner({ clock: bed.clock, get, prometheusUrl: 'http://prometheus:9090' });
  return bed;
}

/** What Prometheus answers to an instant query now. */
function sample(bed: () => FleetBed, value: string): HttpAnswer {
  const result = [{ metric: {}, value: [+bed().clock.now() / 1000, value] }];
  return { status: 200, body: JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }) };
}

function queryOf(url: string): string {
  return new URL(url).searchParams.get('query') ?? '';
}

function statusOf(bed: FleetBed): NonNullable<MachineComponentSet['status']> {
  return bed.set()?.status ?? { conditions: [] };
}

function stalled(bed: FleetBed): string {
  const { status, reason, message } = conditionOf(statusOf(bed).conditions, 'Stalled') ?? {};
  return `${status} ${reason}: ${message}`;
}

describe('a component set with checks of its own', () => {
  it('ROL-22 compares each batch with the machines that are not updated yet, and ends without a comparison', async () => {
    const queries: string[] = [];
    const bed = checkedBed({
      checks: [askingCheck('ratio', { promql: { query: RATIO, max: 2 }, intervalSeconds: 5 })],
      get: async (url) => {
        queries.push(queryOf(url));
        return sample(() => bed, '1');
      },
    });
    await bed.run(1);
    bed.version('1');
    await bed.start();
    await bed.run(90);
    expect(bed.summary()).toBe('3 run app-1; grants: 0');
    const compared = queries.map((query) =>
      [...query.matchAll(/\(\?:(?<names>[^)]*)\)/g)].map(({ groups }) => groups?.['names']),
    );
    expect(compared.length).toBeGreaterThanOrEqual(3);
    for (const [batch, rest] of compared) {
      expect(batch).toMatch(/^m-\d$/);
      expect(`${batch}|${rest}`.split('|').toSorted()).toEqual(['m-1', 'm-2', 'm-3']);
    }
    expect(new Set(compared.map(([batch]) => batch)).size).toBe(1);
    expect(statusOf(bed).history?.[0]?.result).toBe('Completed');
  });

  it('ROL-22 stops for a check that fails, shows what it found, and calls nothing any more', async () => {
    const calls: number[] = [];
    const bed = checkedBed({
      checks: [
        askingCheck('ratio', { promql: { query: RATIO, max: 2 }, intervalSeconds: 5, failureLimit: 1 }),
      ],
      get: async () => {
        calls.push(+bed.clock.now());
        return sample(() => bed, '7');
      },
    });
    await bed.run(1);
    bed.version('1');
    await bed.start();
    await bed.run(40);
    expect(stalled(bed)).toBe('True GateFailed: check ratio: 7 is above 2');
    expect(statusOf(bed).checks).toMatchObject([{ name: 'ratio', result: 'Fail', value: '7 is above 2' }]);
    expect(statusOf(bed).batch?.gates).toMatchObject([{ failures: 2 }]);
    const before = calls.length;
    bed.writes();
    await bed.run(60);
    expect([calls.length, bed.writes()]).toEqual([before, []]);
    const gaps = calls.slice(1).map((at, index) => at - (calls[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(5000);
    expect(bed.summary()).toBe('1 run app-1, 2 run -; grants: 0');
  });

  it.each<[what: string, get: Get, message: string]>([
    ['hangs', () => new Promise(() => undefined), 'no answer within 10 s'],
    ['refuses connections', () => Promise.reject(new Error('ECONNREFUSED')), 'ECONNREFUSED'],
    ['answers 500', async () => ({ status: 500, body: '' }), 'Prometheus: expected status 200, got 500'],
    [
      'answers with a page',
      async () => ({ status: 200, body: '<html>' }),
      'Prometheus returned no result of a query',
    ],
  ])('ROL-21 passes no batch while Prometheus %s, and stops for a person', async (_what, get, message) => {
    const bed = checkedBed({
      checks: [askingCheck('errors', { intervalSeconds: 5, inconclusiveLimit: 2 })],
      get,
    });
    await bed.run(1);
    bed.version('1');
    await bed.start();
    await bed.run(90);
    expect(stalled(bed)).toBe(`True GateInconclusive: check errors: ${message}`);
    expect(statusOf(bed).phase).toBe('Stalled');
    expect(conditionOf(statusOf(bed).conditions, 'GatesPassed')).toMatchObject({
      status: 'Unknown',
      reason: 'GateInconclusive',
    });
    expect([...bed.agents.values()].filter(({ runs }) => runs === 'app-1')).toHaveLength(1);
  });

  it('ROL-22 remembers over a kill what checks have counted', async () => {
    let value = '0';
    const bed = checkedBed({
      checks: [askingCheck('errors', { intervalSeconds: 5, failureLimit: 2 })],
      soakSeconds: 300,
      get: async () => sample(() => bed, value),
    });
    const failures = (): number => statusOf(bed).batch?.gates?.[0]?.failures ?? 0;
    await bed.run(1);
    bed.version('1');
    const first = await bed.start();
    for (let seconds = 0; failures() < 2 && seconds < 60; seconds += 1) await bed.run(1); // oxlint-disable-line no-await-in-loop -- one second after the other
    expect(failures()).toBe(2);
    value = '1';
    await first.kill();
    await bed.start();
    await bed.run(12);
    expect(statusOf(bed).batch?.gates).toMatchObject([{ failures: 2, result: 'Passed' }]);
    value = '0';
    await bed.run(12);
    expect(stalled(bed)).toBe('True GateFailed: check errors: 0 is below 1');
    expect(failures()).toBe(3);
  });

  it('ROL-10 ends the same with checks when it is killed at any write, before or after it', async () => {
    const { first, step } = stride(3);
    let write = first;
    // oxlint-disable-next-line no-await-in-loop -- one scenario after the other
    for (; await endAfterCrash(write, 'before'); write += step) await endAfterCrash(write, 'after');
    expect(write).toBeGreaterThan(12);
  });

  it('ROL-34 runs no check during a pause, and continues from what was counted', async () => {
    let calls = 0;
    const bed = checkedBed({
      checks: [askingCheck('errors', { intervalSeconds: 5 })],
      soakSeconds: 30,
      get: async () => {
        calls += 1;
        return sample(() => bed, '1');
      },
    });
    await bed.run(1);
    bed.version('1');
    await bed.start();
    await bed.run(15);
    bed.edit({ paused: true });
    await bed.run(2);
    const before = calls;
    await bed.run(60);
    expect(calls).toBe(before);
    bed.edit({ paused: false });
    await bed.run(240);
    expect(bed.summary()).toBe('3 run app-1; grants: 0');
  });
});

/** A second process takes over. Returns whether the first one crashed. */
async function endAfterCrash(n: number, when: 'before' | 'after'): Promise<boolean> {
  const bed = checkedBed({
    machines: 2,
    checks: [askingCheck('errors', { intervalSeconds: 5, consecutiveSuccess: 2 })],
    soakSeconds: 6,
    get: async () => sample(() => bed, '1'),
  });
  await bed.run(1);
  bed.version('1');
  const first = await bed.start({ n, when });
  await bed.run(35);
  const { crashed } = first;
  if (crashed) {
    await first.kill();
    await bed.start();
    await bed.run(35);
  }
  const most = [...bed.agents.values()].map(({ activations }) => activations.get('app-1')).join();
  const result = bed.set()?.status?.history?.[0]?.result;
  const found = `${when} write ${n}: ${bed.summary()}; ${most}; ${result}`;
  expect(found).toBe(`${when} write ${n}: 2 run app-1; grants: 0; 1,1; Completed`);
  return crashed;
}
