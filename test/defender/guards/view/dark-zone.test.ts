import { describe, expect, it } from 'vitest';
import type { MachineFacts } from '../../../../src/defender/facts/facts.ts';
import { decideScene, explain, machineFacts, machines, policy } from '../../builders.ts';

const ZONES = [policy({ zones: { haltPercent: 55, minNodes: 3 } })];

/** So many machines of zone a, and ten of zone b that serve. */
function fleet(total: number, unhealthy: number, facts: Partial<MachineFacts>): readonly MachineFacts[] {
  const own = machines(total).map((each, index) => (index < unhealthy ? { ...each, ...facts } : each));
  return [...own, ...Array.from({ length: 10 }, (_, index) => machineFacts(`b-${index}`, { zone: 'b' }))];
}

describe('dark zones', () => {
  it.each([
    { total: 100, unhealthy: 54, isDark: false },
    { total: 100, unhealthy: 55, isDark: true },
    { total: 100, unhealthy: 100, isDark: true },
    { total: 20, unhealthy: 11, isDark: true },
    { total: 3, unhealthy: 1, isDark: false },
    { total: 3, unhealthy: 2, isDark: true },
    { total: 2, unhealthy: 2, isDark: false },
    { total: 1, unhealthy: 1, isDark: false },
  ])(
    'R19 stops in a zone with $unhealthy of $total machines unhealthy: $isDark',
    ({ total, unhealthy, isDark }) => {
      for (const readiness of ['NotReady', 'Unknown'] as const) {
        const decision = decideScene({ policies: ZONES, machines: fleet(total, unhealthy, { readiness }) });
        expect(explain(decision).startsWith('ZoneDark')).toBe(isDark);
      }
    },
  );

  const dark = fleet(10, 8, { readiness: 'NotReady' });

  it.each([
    ['a repair', { action: 'Reboot', risk: 'Node' }],
    ['a drain out of it', { action: 'Drain', risk: 'Pod' }],
    ['a replacement', { action: 'DeleteMachine', risk: 'Machine' }],
  ] as const)('R19 denies %s in a dark zone, and tells how dark it is', (_, ask) => {
    const decision = decideScene({ policies: ZONES, machines: dark, ask });
    expect(decision).toMatchObject({
      permitted: false,
      reason: 'ZoneDark',
      key: 'zone a',
      used: 8,
      limit: 6,
      message: 'zone a is dark: 8 of 10 nodes are not Ready; 6 make it dark',
    });
  });

  it('R19 goes on in the other zones, and with what interrupts nothing', () => {
    const other = { machine: 'b-1', nodeUID: 'uid-b-1' };
    expect(explain(decideScene({ policies: ZONES, machines: dark, ask: other }))).toBe('granted');
    const clean = { action: 'CleanDisk', risk: 'None' } as const;
    expect(explain(decideScene({ policies: ZONES, machines: dark, ask: clean }))).toBe('granted');
  });

  it('R19 lets a rollback through, which gives capacity back', () => {
    const rollback = { action: 'UpdateComponent', recovery: true } as const;
    const decision = decideScene({ policies: ZONES, machines: dark, ask: rollback });
    expect(explain(decision)).toBe('granted');
  });

  it('R19 counts only what is NotReady or Unknown: a zone that people cordon is not dark', () => {
    const cordoned = fleet(10, 8, { cordoned: true });
    expect(explain(decideScene({ policies: ZONES, machines: cordoned }))).not.toContain('ZoneDark');
  });

  it('R19 stops in a zone that its provider reports as failing, whatever its machines report', () => {
    const shifted = { zonalShifts: new Set(['a']) };
    const here = decideScene({ policies: ZONES, facts: shifted });
    expect(explain(here)).toContain('ZonalShift');
    const all = fleet(10, 0, {});
    const other = { machine: 'b-1', nodeUID: 'uid-b-1' };
    expect(explain(decideScene({ policies: ZONES, machines: all, facts: shifted, ask: other }))).toBe(
      'granted',
    );
  });
});
