import { describe, expect, it } from 'vitest';
import { ago } from '../../support/builders.ts';
import { lying, reporting } from '../live/facts-bed.ts';
import { ruleOf } from '../live/rules-bed.ts';

const HOUR = { codes: [48, 79], windowSeconds: 3600 };
const errors = [
  { code: 79, gpu: 3, at: ago(60) },
  { code: 79, gpu: 3, at: ago(120) },
  { code: 48, gpu: 1, at: ago(600) },
  { code: 31, gpu: 0, at: ago(30) },
  { code: 79, gpu: 2, at: ago(7200) },
];

describe('the fact xid', () => {
  it('counts the errors with these codes, on each GPU', () => {
    const bed = reporting({ facts: { xid: errors, xidSince: ago(86_400), bootedAt: ago(300) } });
    expect(bed.read('xid', HOUR)).toEqual({
      count: 3,
      lastAgeSeconds: 60,
      sinceBoot: 2,
      sinceReset: 2,
      maxPerGPU: 2,
      distinctGPUs: 2,
    });
    expect(bed.read('xid', { codes: [62], windowSeconds: 3600 })).toEqual({
      count: 0,
      sinceBoot: 0,
      sinceReset: 0,
      maxPerGPU: 0,
      distinctGPUs: 0,
    });
  });

  it('R37 counts no error that a reset of its GPU has ended, and counts it in the window all the same', () => {
    const xid = [
      { code: 79, gpu: 3, at: ago(60) },
      { code: 79, gpu: 3, at: ago(120), reset: true },
      { code: 79, gpu: 3, at: ago(600), reset: true },
      { code: 79, gpu: 1, at: ago(90), reset: lying('yes') },
    ];
    const bed = reporting({ facts: { xid, xidSince: ago(86_400), bootedAt: ago(300) } });
    expect(bed.read('xid', HOUR)).toMatchObject({ count: 4, sinceBoot: 3, sinceReset: 2, maxPerGPU: 3 });
  });

  it.each<readonly [name: string, facts: unknown]>([
    ['nothing', {}],
    ['no begin', { xid: errors, bootedAt: ago(300) }],
    ['no boot', { xid: errors, xidSince: ago(86_400) }],
    ['a begin within the window', { xid: errors, xidSince: ago(3599), bootedAt: ago(300) }],
    ['a begin that is not a time', { xid: errors, xidSince: 'yesterday', bootedAt: ago(300) }],
  ])('R1 is unknown for a report with %s', (_, facts) => {
    expect(reporting({ facts: lying(facts) }).read('xid', HOUR)).toEqual({});
  });

  it('R1 knows the codes that a burst of another one did not displace, and no other ones', () => {
    const xidCutCodes = [31];
    const times = { xidSince: ago(120), xidOthersSince: ago(86_400), bootedAt: ago(9000) };
    const bed = reporting({ facts: { xid: errors, xidCutCodes, ...times } });
    expect(bed.read('xid', HOUR)).toMatchObject({ count: 3, sinceBoot: 3 });
    expect(bed.read('xid', { codes: [79, 31], windowSeconds: 3600 })).toEqual({});
    const lied = { xid: errors, xidCutCodes: 'none', ...times };
    expect(reporting({ facts: lying(lied) }).read('xid', HOUR)).toEqual({});
  });

  it('R1 counts no entry that cannot be read', () => {
    const xid = [
      null,
      'x',
      { code: '79', gpu: 1, at: ago(9) },
      { code: 79, gpu: 1 },
      { code: 79, at: ago(9) },
    ];
    const bed = reporting({ facts: lying({ xid, xidSince: ago(86_400), bootedAt: ago(300) }) });
    expect(bed.read('xid', HOUR)).toMatchObject({ count: 0 });
  });

  it('R8 is read again when the oldest error leaves the window, and when the log covers it', () => {
    const rule = ruleOf([
      { fact: 'xid', params: HOUR, path: '$.sinceBoot', operator: 'greaterThanInclusive', value: 1 },
    ]);
    const old = { xid: [...errors, { code: 48, gpu: 1, at: ago(3595) }], bootedAt: ago(300) };
    const leaving = reporting({ facts: { ...old, xidSince: ago(86_400) } });
    expect(leaving.live().dueInMs('n', rule)).toBe(5001);
    const growing = reporting({ facts: { ...old, xidSince: ago(3590) } });
    expect(growing.why('xid', HOUR)).toBe('errors of GPUs are known for the last 3590 s only');
    expect(growing.live().dueInMs('n', rule)).toBe(10_001);
  });

  it.each(['machines', 'agentLeases'] as const)('R1 is unknown without contact to %s', (view) => {
    const bed = reporting({ facts: { xid: errors, xidSince: ago(86_400), bootedAt: ago(300) } });
    bed.silence(view, 200_000);
    expect(bed.read('xid', HOUR)).toEqual({});
  });
});
