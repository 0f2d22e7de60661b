import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { machineSign, stateTone } from '../../../src/console/state/signs.ts';

/** As the API declares them. */
function machinePhases(): readonly string[] {
  const types = readFileSync('src/api/generated/types.ts', 'utf8');
  const status = types.slice(types.indexOf('export interface MachineStatus {'));
  const [, union = ''] = /readonly phase\?: (.*);/.exec(status) ?? [];
  return union.split(' | ').map((each) => each.slice(1, -1));
}

describe('machineSign', () => {
  it('has a sign for each phase of a Machine, so that the color is never the only sign', () => {
    const phases = machinePhases();
    expect(phases.length).toBeGreaterThan(8);
    for (const phase of phases) expect([phase, machineSign({ p: phase }).sign]).not.toEqual([phase, '·']);
  });

  it('gives phases of different tones different signs', () => {
    const signs = machinePhases().map((p) => machineSign({ p }));
    const tones = Map.groupBy(signs, ({ sign }) => sign);
    for (const [, same] of tones) expect(new Set(same.map(({ tone }) => tone)).size).toBe(1);
  });

  it('shows a repair before the phase', () => {
    expect(machineSign({ p: 'Ready' }, true)).toEqual({ sign: 'R', tone: 'busy' });
    expect(machineSign({ p: 'NotReady', c: { g: 'g-1-0' } }, true)).toEqual({
      sign: 'R',
      tone: 'bad',
    });
  });

  it.each([
    ['Ready', 'kubenode', 'C', 'busy'],
    ['Ready', 'others', 'U', 'quiet'],
    ['Updating', 'kubenode', 'C', 'busy'],
    ['Updating', 'others', 'U', 'quiet'],
    ['NotReady', 'kubenode', '!', 'bad'],
    ['NotReady', 'others', '!', 'bad'],
    ['Stalled', 'others', '×', 'bad'],
    ['Held', 'kubenode', 'H', 'quiet'],
    ['Deleting', 'kubenode', '−', 'quiet'],
  ])('shows a machine that is %s and cordoned by %s as %s', (p, by, sign, tone) => {
    const c = by === 'kubenode' ? { g: 'g-1-0' } : {};
    expect(machineSign({ p, c })).toEqual({ sign, tone });
  });

  it('has a neutral sign for what it does not know', () => {
    expect(machineSign({ p: 'constructor' })).toEqual({ sign: '·', tone: 'quiet' });
  });
});

it.each([
  ['Completed', 'good'],
  ['Running', 'busy'],
  ['NeedsPerson', 'bad'],
  ['InForce', 'good'],
  ['CutOff', 'bad'],
  ['Waiting', 'attention'],
  ['Something', 'quiet'],
])('shows the state %s as %s', (state, tone) => {
  expect(stateTone(state)).toBe(tone);
});
