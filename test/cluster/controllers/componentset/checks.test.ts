/** Checks of component sets on a real API server: `kubenode controllers` asks a stand-in for Prometheus that answers, fails, hangs, and answers wrongly. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Check } from '../../../../src/api/generated/types.ts';
import { conditionOf } from '../../../../src/kube/objects/conditions.ts';
import {
  type PrometheusAnswer,
  type PrometheusApi,
  startPrometheusApi,
} from '../../../support/prometheus-api.ts';
import { startControllers } from '../../defender/processes.ts';
import { CONTROLLERS } from '../machine-cluster.ts';
import { gateOf, type RolloutFleet, type SetStatus, startRolloutFleet } from '../rollout-fleet.ts';

const RATIO = 'errors{node=~"${batch}"} - errors{node=~"${rest}"}';

function checked(pool: string, more: Partial<Check> = {}): Parameters<RolloutFleet['declare']>[2] {
  // Defaults are those of the API server.
  const check = {
    name: 'errors',
    promql: { query: `${RATIO} # ${pool}`, max: 1 },
    intervalSeconds: 5,
    ...more,
  } as Check;
  return { rollout: { batches: [1, 2], gate: { ...gateOf(6), checks: [check] } } };
}

function gates(status: SetStatus): string {
  const { status: is, reason, message } = conditionOf(status.conditions, 'GatesPassed') ?? {};
  return `${is} ${reason}: ${message}`;
}

describe('a component set', () => {
  let fleet: RolloutFleet;
  let prometheus: PrometheusApi;
  /** By the name of the pool in the query. */
  const answers = new Map<string, () => PrometheusAnswer>();

  beforeAll(async () => {
    prometheus = await startPrometheusApi();
    prometheus.answer = (query) => {
      const found = [...answers].find(([pool]) => query.includes(pool));
      return found ? found[1]() : { status: 404 };
    };
    fleet = await startRolloutFleet(async ({ server }) => {
      const kubeconfig = await server.kubeconfigFor(CONTROLLERS);
      return () => startControllers(kubeconfig, '--prometheus-url', prometheus.url);
    });
  });
  afterAll(async () => {
    await fleet?.stop();
    await prometheus?.close();
  });

  function queriesOf(pool: string): number {
    return prometheus.queries.filter((query) => query.includes(pool)).length;
  }

  it('ROL-22 compares each batch with the machines without the version, and ends with a check that is skipped', async () => {
    const names = await fleet.pool('compared', 3);
    answers.set('compared', () => ({ values: ['0.5'] }));
    await fleet.declare('compared', '2.0', checked('compared', { consecutiveSuccess: 2 }));
    const status = await fleet.completed('compared');
    expect(status.history?.[0]?.components).toEqual(['compared-2.0']);
    const own = prometheus.queries.filter((query) => query.includes('compared'));
    expect(own.length).toBeGreaterThanOrEqual(2);
    for (const query of own) {
      const [batch = '', rest = ''] = [...query.matchAll(/\(\?:(?<names>[^)]*)\)/g)].map(
        ({ groups }) => groups?.['names'] ?? '',
      );
      expect([batch, ...rest.split('|')].toSorted()).toEqual(names.toSorted());
    }
    expect(await fleet.history.batches('compared', status.currentRevision ?? '')).toHaveLength(2);
  });

  it('ROL-22 takes the batch back for a check that fails, with the value in the condition, also over a kill of the controllers', async () => {
    const names = await fleet.pool('failing', 3);
    answers.set('failing', () => ({ values: ['0'] }));
    await fleet.declare('failing', '2.0', checked('failing', { failureLimit: 1 }));
    answers.set('failing', () => ({ values: ['7'] }));
    await fleet.setIs(
      'failing',
      'with a failed run',
      ({ batch }) => (batch?.gates?.[0]?.failures ?? 0) === 1,
    );
    await fleet.cluster.killOne();
    const status = await fleet.setIs('failing', 'rolled back', ({ phase }) => phase === 'Stalled');
    expect(conditionOf(status.conditions, 'Ready')).toMatchObject({ status: 'False', reason: 'RolledBack' });
    expect(gates(status)).toBe('False GateFailed: check errors: 7 is above 1');
    expect(status.checks).toMatchObject([{ name: 'errors', result: 'Fail', value: '7 is above 1' }]);
    const touched = (await fleet.history.starts('failing')).filter(
      ({ revision }) => revision === status.updateRevision,
    );
    expect(touched).toHaveLength(1);
    expect(await fleet.versions('failing')).toEqual(
      Object.fromEntries(names.map((name) => [name, 'failing-1.0'])),
    );
    const before = queriesOf('failing');
    const unchecked = { rollout: { gate: gateOf(0) } };
    await fleet.declare('failing', '3.0', unchecked);
    const held = await fleet.setIs('failing', 'held', ({ waiting }) => waiting?.reason === 'GateLoosened');
    expect(held.waiting?.message).toContain('check errors removed');
    await fleet.declare('failing', '3.0', { ...unchecked, retryToken: 'without the check' });
    await fleet.completed('failing');
    expect(queriesOf('failing')).toBe(before);
  });

  it.each<[pool: string, answer: PrometheusAnswer, message: string]>([
    ['erring', { status: 500 }, 'Prometheus: expected status 200, got 500'],
    ['lying', { values: Array<string>(2000).fill('0') }, 'expected one value, got 2000: aggregate the query'],
    ['hanging', 'Hangs', 'no answer within 10 s'],
  ])(
    'ROL-21 starts no second batch while Prometheus is %s, stops, and goes on when a person resumes it',
    async (pool, answer, message) => {
      await fleet.pool(pool, 2);
      answers.set(pool, () => answer);
      const declared = checked(pool, { inconclusiveLimit: 1 });
      await fleet.declare(pool, '2.0', declared);
      const status = await fleet.setIs(pool, 'stalled', ({ phase }) => phase === 'Stalled');
      expect(gates(status)).toBe(`Unknown GateInconclusive: check errors: ${message}`);
      expect(new Set(Object.values(await fleet.versions(pool)))).toEqual(
        new Set([`${pool}-1.0`, `${pool}-2.0`]),
      );
      answers.set(pool, () => ({ values: ['0'] }));
      await fleet.declare(pool, '2.0', { ...declared, paused: true });
      await fleet.setIs(pool, 'paused', ({ phase }) => phase === 'Paused');
      await fleet.declare(pool, '2.0', declared);
      await fleet.completed(pool);
    },
  );
});
