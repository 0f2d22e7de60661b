import { describe, expect, it } from 'vitest';
import { endedTimes, type PolicyTimes } from '../../../src/defender/policies/ended.ts';
import { ago, NOW } from '../builders.ts';

const STOP = { engaged: true, scope: 'All', by: 'ann', reason: 'x' } as const;

function freeze(until: string): NonNullable<PolicyTimes['freezes']>[number] {
  return { name: 'f', from: ago(9000), until, reason: 'x', risks: [] };
}

describe('endedTimes', () => {
  it.each<[name: string, spec: PolicyTimes, paths: readonly string[]]>([
    ['nothing without times', {}, []],
    [
      'a freeze from the moment of its end',
      { freezes: [freeze(ago(-1)), freeze(ago(0))] },
      ['spec.freezes[1].until'],
    ],
    ['a kill switch that ended', { killSwitch: { ...STOP, until: ago(1) } }, ['spec.killSwitch.until']],
    ['no kill switch that holds', { killSwitch: { ...STOP, until: ago(-1) } }, []],
    ['no kill switch without an end', { killSwitch: STOP }, []],
    ['no kill switch that is not engaged', { killSwitch: { ...STOP, engaged: false, until: ago(1) } }, []],
  ])('R24 a time that is over denies nothing: %s', (_, spec, paths) => {
    expect(endedTimes(spec, NOW).map(({ path }) => path)).toEqual(paths);
  });
});
