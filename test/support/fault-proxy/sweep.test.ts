import { describe, expect, it } from 'vitest';
import { parseCall } from './call.ts';
import type { Exchange } from './log.ts';
import { createFaultRules } from './rules.ts';
import { READ_FAULTS, sweep, WATCH_FAULTS, WRITE_FAULTS } from './sweep.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const RUN = [
  exchange(1, 'GET', MAPS),
  exchange(2, 'POST', MAPS, 'a'),
  exchange(3, 'POST', MAPS, 'b'),
  exchange(4, 'GET', MAPS),
  exchange(5, 'GET', `${MAPS}?watch=1`),
];
const titles = (log: readonly Exchange[], cases = READ_FAULTS): string[] =>
  sweep(log, cases).map(({ title }) => title);

describe('a sweep', () => {
  it('names each pair of a request and a fault that fits it', () => {
    expect(titles(RUN, READ_FAULTS.slice(0, 1))).toEqual([
      `1. list ${MAPS}: answer 401`,
      `2. list ${MAPS}: answer 401`,
    ]);
    expect(titles(RUN, WRITE_FAULTS.slice(0, 1))).toEqual([
      `1. create ${MAPS} a: answer 403 before`,
      `1. create ${MAPS} b: answer 403 before`,
    ]);
    expect(titles(RUN, WATCH_FAULTS.slice(0, 1))).toEqual([`1. watch ${MAPS}: answer 410`]);
  });

  it('replays only answers that were recorded before', () => {
    const replays = READ_FAULTS.filter(({ name }) => name === 'replay');
    expect(titles(RUN, replays)).toEqual([`2. list ${MAPS}: replay`]);
  });

  it('has no two equal points', () => {
    const all = titles(RUN, [...READ_FAULTS, ...WRITE_FAULTS, ...WATCH_FAULTS]);
    expect(new Set(all).size).toBe(all.length);
  });

  it('creates rules that match their request in the repeated run, and no other', () => {
    for (const point of sweep(RUN, [...READ_FAULTS, ...WRITE_FAULTS, ...WATCH_FAULTS])) {
      const rules = createFaultRules();
      rules.add(point.rule());
      const met = RUN.filter((each) => rules.take(each, each.listener).fault);
      expect([point.title, met.length]).toEqual([point.title, 1]);
      expect(point.title).toContain(` ${met[0]?.verb} `);
    }
  });
});

function exchange(number: number, method: string, target: string, name = ''): Exchange {
  const body = Buffer.from(JSON.stringify({ metadata: { name } }));
  const call = parseCall({ method, target, contentType: 'application/json', body });
  return {
    ...call,
    number,
    at: new Date(0),
    listener: 'default',
    user: undefined,
    userAgent: undefined,
    bodyHash: undefined,
    reached: true,
    serverStatus: 200,
    status: 200,
    fault: undefined,
    endedAt: undefined,
  };
}
