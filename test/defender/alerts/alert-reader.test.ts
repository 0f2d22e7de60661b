import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DefenderPolicy } from '../../../src/api/generated/types.ts';
import { createAlertReader, MAX_QUERIES } from '../../../src/defender/alerts/alert-reader.ts';
import { createPrometheus, type Prometheus } from '../../../src/observability/query/client.ts';
import { httpGet } from '../../../src/os/net/http-get.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { type PrometheusApi, startPrometheusApi } from '../../support/prometheus-api.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { policy } from '../builders.ts';

function policyOf(...queries: readonly string[]): DefenderPolicy {
  const promql = queries.map((query) => ({ name: `q-${query}`, query }));
  return policy({ blockers: { foreign: [], podLabels: [], minNodeAgeSeconds: 0, promql } });
}

let server: PrometheusApi;
beforeAll(async () => {
  server = await startPrometheusApi();
});
afterAll(() => server?.close());

describe('the reader of alerts', () => {
  it('R23 knows over a real connection what fires, and nothing of a query that hangs', async () => {
    const clock = createSystemClock();
    const options = { clock, get: httpGet, prometheusUrl: server.url };
    const reader = createAlertReader({ prometheus: createPrometheus(options), clock });
    const hasty = createAlertReader({ prometheus: createPrometheus({ ...options, timeoutMs: 50 }), clock });
    server.answer = (query) => (query === 'hangs' ? 'Hangs' : { values: query === 'up' ? [] : ['1'] });
    hasty.refresh([policyOf('hangs')]);
    reader.refresh([policyOf('up', 'firing')]);
    expect(reader.result('up')).toBeUndefined();
    await Promise.all([reader.idle(), hasty.idle()]);
    expect([reader.result('up'), reader.result('firing'), hasty.result('hangs')]).toMatchObject([
      { state: 'Quiet', message: 'no sample' },
      { state: 'Firing', message: '1 sample' },
      { state: 'Unknown', message: 'no answer within 0.05 s' },
    ]);
  });

  it('R23 knows nothing without a Prometheus, and names the option', async () => {
    const clock = createSystemClock();
    const reader = createAlertReader({ prometheus: createPrometheus({ clock, get: httpGet }), clock });
    reader.refresh([policyOf('up')]);
    await reader.idle();
    expect(reader.result('up')).toMatchObject({
      state: 'Unknown',
      message: 'no Prometheus is configured: start this program with --prometheus-url',
    });
  });

  it('R23 asks each query once in half a minute, however many policies name it, and forgets what none names', async () => {
    const clock = virtualClock();
    const asked: string[] = [];
    const reader = createAlertReader({ clock, prometheus: countedPrometheus(asked) });
    reader.refresh([policyOf('a', 'b'), policyOf('a')]);
    reader.refresh([policyOf('c')]);
    await reader.idle();
    reader.refresh([policyOf('c')]);
    await clock.advance(29_999);
    reader.refresh([policyOf('c')]);
    expect(asked).toEqual(['a', 'b']);
    await clock.advance(1);
    reader.refresh([policyOf('c')]);
    await reader.idle();
    expect([asked, reader.result('a'), reader.result('c')?.state]).toEqual([
      ['a', 'b', 'c'],
      undefined,
      'Unknown',
    ]);
  });

  it('R23 asks no more queries than its limit, and reports it for the others', async () => {
    const asked: string[] = [];
    const reader = createAlertReader({ clock: virtualClock(), prometheus: countedPrometheus(asked) });
    const queries = Array.from({ length: MAX_QUERIES + 1 }, (_, n) => `q${100 + n}`);
    reader.refresh(queries.map((query) => policyOf(query)));
    await reader.idle();
    expect(asked).toHaveLength(MAX_QUERIES);
    expect(reader.result(queries.at(-1) ?? '')?.message).toBe('policies name more than 32 queries');
  });
});

function countedPrometheus(asked: string[]): Prometheus {
  return {
    query: async (query) => {
      asked.push(query);
      return { problem: 'away' };
    },
  };
}
