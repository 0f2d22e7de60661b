import { describe, expect, it } from 'vitest';
import { askPrometheus } from '../../../src/observability/report/read.ts';
import { reportSections } from '../../../src/observability/report/sections.ts';
import type { HttpAnswer } from '../../../src/os/net/http-get.ts';
import { createFastClock } from '../../support/fast-clock.ts';

const PLANS = reportSections({ seconds: 3600, clusterLabel: 'cluster' }).filter(
  ({ id }) => id === 'rollouts',
);
const ALL = ['kubenode_component_rollouts_total'];
const json = (data: unknown): HttpAnswer => ({
  status: 200,
  body: JSON.stringify({ status: 'success', data }),
});
const SAMPLES = json({ resultType: 'vector', result: [{ metric: { component: 'runc' }, value: [1, '2'] }] });

async function read(get: (url: URL, signal: AbortSignal) => Promise<HttpAnswer>, totalMs = 2000) {
  const urls: URL[] = [];
  const answers = await askPrometheus(
    {
      prometheusUrl: 'http://prometheus:9090/',
      get: (url, signal) => {
        urls.push(new URL(url));
        return get(new URL(url), signal);
      },
      clock: createFastClock(),
      signal: new AbortController().signal,
      timeoutMs: 50,
      totalMs,
    },
    PLANS,
    3600,
  );
  return { ...answers, urls };
}

const isNames = ({ pathname }: URL): boolean => pathname.endsWith('/values');
const never = (signal: AbortSignal): Promise<HttpAnswer> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

describe('askPrometheus', () => {
  it('DAT-11 asks all queries of one moment, and only those whose metrics exist', async () => {
    const known = await read(async (url) => (isNames(url) ? json(ALL) : SAMPLES));
    expect(known.columns).toHaveLength(6);
    const times = known.urls.filter((url) => !isNames(url)).map((url) => url.searchParams.get('time'));
    expect(new Set(times).size).toBe(1);
    const unknown = await read(async (url) => (isNames(url) ? json(['kubenode_renamed']) : SAMPLES));
    expect(unknown.columns).toEqual([]);
    expect([...(unknown.names ?? [])]).toEqual(['kubenode_renamed']);
  });

  it('DAT-11 rejects if Prometheus does not answer at all', async () => {
    const refused = Object.assign(new Error('fetch failed'), { cause: new Error('connect ECONNREFUSED') });
    await expect(read(() => Promise.reject(refused))).rejects.toThrow('connect ECONNREFUSED');
    await expect(read((_, signal) => never(signal))).rejects.toThrow('no answer within');
  });

  it('DAT-11 keeps what it knows when one query hangs and another fails', async () => {
    const { columns } = await read(async (url, signal) => {
      const query = url.searchParams.get('query') ?? '';
      if (isNames(url)) return json(ALL);
      if (query.includes('"Paused"}')) return await never(signal);
      return query.includes('"Stopped"}') ? { status: 503, body: '' } : SAMPLES;
    });
    const problems = columns.flatMap(({ column, answer }) =>
      'problem' in answer ? [`${column.name}: ${answer.problem}`] : [],
    );
    expect(problems).toEqual(['paused: no answer within 0.05 s', 'stopped: expected status 200, got 503']);
  });

  it('DAT-11 asks without the names where the server has no list of them', async () => {
    const { columns, missing } = await read(async (url) =>
      isNames(url) ? { status: 404, body: '' } : SAMPLES,
    );
    expect(columns).toHaveLength(6);
    expect(missing).toContain('the names of the metrics: expected status 200, got 404');
  });

  it('DAT-11 ends after its whole time, however many queries are left', async () => {
    const { columns } = await read(
      async (url, signal) => (isNames(url) ? json(ALL) : await never(signal)),
      80,
    );
    const texts = columns.map(({ answer }) => ('problem' in answer ? answer.problem : 'answered'));
    expect(texts).toContain('not asked: the report took longer than 0.08 s');
    expect(texts).not.toContain('answered');
  });
});
