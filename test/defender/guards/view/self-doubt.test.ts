import { describe, expect, it } from 'vitest';
import { isClockTrusted, timeOfServer } from '../../../../src/defender/guards/view/self-doubt.ts';
import { decideScene, explain, machineFacts, machines, NOW, policy, secondsAgo } from '../../builders.ts';

const HALF = policy({
  selfDoubt: {
    maxViewAgeSeconds: 150,
    apiErrorPercent: 20,
    massUnknownPercent: 50,
    withinSeconds: 120,
    secondVantage: [],
  },
});

describe('self-doubt', () => {
  it.each([
    ['became Unknown together', [1, 1, 1, 1, 1], false],
    ['are fewer than the limit', [1, 1, 1, 1], true],
    ['became Unknown one after the other', [0, 200, 400, 600, 800], true],
    ['became Unknown within the period, long ago', [9000, 9010, 9020, 9030, 9100], false],
  ])('R20 denies while half of the fleet is Unknown, not when machines %s', (_, ages, permitted) => {
    const unknown = ages.map((age, index) =>
      machineFacts(`u-${index}`, { readiness: 'Unknown', unknownSince: secondsAgo(age) }),
    );
    const all = [...machines(10 - unknown.length), ...unknown];
    expect(decideScene({ policies: [HALF], machines: all }).permitted).toBe(permitted);
  });

  it.each([
    ['outside of it', {}, true],
    ['in it', { labels: { gpu: 'true' } }, false],
  ])(
    'R20 judges a policy for some nodes by those nodes: three machines are Unknown %s',
    (_, labels, permitted) => {
      const scope = {
        nodeSelector: { all: false, matchLabels: { gpu: 'true' } },
        actions: [],
        risks: [],
        holders: [],
      };
      const gpu = policy({ scope, selfDoubt: { ...HALF.spec.selfDoubt, massUnknownPercent: 20 } }, 'gpu');
      const unknown = Array.from({ length: 3 }, (_each, n) =>
        machineFacts(`u-${n}`, { readiness: 'Unknown', unknownSince: secondsAgo(1), ...labels }),
      );
      const all = [...machines(5, { labels: { gpu: 'true' } }), ...unknown];
      expect(decideScene({ policies: [policy(), gpu], machines: all }).permitted).toBe(permitted);
    },
  );

  it('R20 denies everything with a view that is not complete, unknown error rates or an unknown clock', () => {
    const view = { ageSeconds: undefined, apiErrorPercent: undefined, clockSkewSeconds: undefined };
    const decision = decideScene({ facts: { view }, ask: { action: 'CleanDisk', risk: 'None' } });
    expect(explain(decision)).toBe(
      [
        "FactUnknown: clock differs from the API server's by unknown s; at most 30 s are allowed",
        'WatchStale [fleet-default]: a view is not complete',
        'APIErrors [fleet-default]: failed requests to the API server: unknown %; at most 20 % are allowed',
      ].join('\n'),
    );
  });

  it('R20 denies for a minute after the clock has jumped and agrees with the API server again', () => {
    const view = { ageSeconds: 0, apiErrorPercent: 0, clockSkewSeconds: 1, worstClockSkewSeconds: -45 };
    expect(explain(decideScene({ facts: { view } }))).toBe(
      "FactUnknown: clock differed from the API server's by -45 s within the last minute; at most 30 s are allowed",
    );
    expect(decideScene({ facts: { view: { ...view, worstClockSkewSeconds: -30 } } }).permitted).toBe(true);
  });

  it('R20 takes the time of the server when the clocks differ by more than that', () => {
    const times = [-3600, -31, -30, 0, 30, 31, 3600, undefined].map((clockSkewSeconds) => {
      const ours = new Date(+NOW + (clockSkewSeconds ?? 0) * 1000);
      return (+timeOfServer(ours, { clockSkewSeconds }) - +NOW) / 1000;
    });
    expect(times).toEqual([0, 0, -30, 0, 30, 0, 0, 0]);
  });

  it('R20 trusts a clock within 30 s of the API server, in both directions', () => {
    expect([-31, -30, 0, 30, 31, undefined].map(isClockTrusted)).toEqual([
      false,
      true,
      true,
      true,
      false,
      false,
    ]);
  });
});
