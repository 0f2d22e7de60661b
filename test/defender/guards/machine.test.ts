import { describe, expect, it } from 'vitest';
import type { RepairFact } from '../../../src/defender/facts/facts.ts';
import { ago, decideScene, machineFacts, machines, policy } from '../builders.ts';

const CASE = 'm-1-hang-7c1f02ab';

function repair(seconds: number, unchangedBy?: string): RepairFact {
  return { at: new Date(ago(seconds)), rebooted: false, ...(unchangedBy !== undefined && { unchangedBy }) };
}

function reasonsOf(job: string, repairs: readonly RepairFact[], maxGrants = 5): string {
  const perMachine = { ...policy().spec.perMachine, maxGrants };
  const holder = {
    kind: 'RemedyOperationJob',
    name: job,
    origin: 'NodeRemedier/hang',
    revision: 'r-1',
  } as const;
  const ends = decideScene({
    policies: [policy({ perMachine })],
    machines: [machineFacts('m-1', { repairs }), ...machines(10).slice(1)],
    ask: { holder },
  });
  return ends.permitted ? 'permitted' : ends.reason;
}

describe('repairLimits', () => {
  it.each<[what: string, job: string, repairs: readonly RepairFact[], expected: string]>([
    ['after a repair', `${CASE}-r2-a1`, [repair(60)], 'NodeInterval'],
    [
      'after the rung before, which changed nothing',
      `${CASE}-r2-a1`,
      [repair(1, `${CASE}-r1-a1`)],
      'permitted',
    ],
    ['after two such tries', `${CASE}-r2-a1`, [1, 9].map((n) => repair(n, `${CASE}-r1-a1`)), 'permitted'],
    ['again on the same rung', `${CASE}-r1-a2`, [repair(1, `${CASE}-r1-a1`)], 'NodeInterval'],
    ['after an attempt of a later rung', `${CASE}-r1-a1`, [repair(1, `${CASE}-r2-a1`)], 'NodeInterval'],
    ['of another case', 'm-1-hang-00000000-r2-a1', [repair(1, `${CASE}-r1-a1`)], 'NodeInterval'],
    ['of another rule', 'm-1-disk-7c1f02ab-r2-a1', [repair(1, `${CASE}-r1-a1`)], 'NodeInterval'],
    [
      'after the rung before, soon after a repair of another case',
      `${CASE}-r2-a1`,
      [repair(1, `${CASE}-r1-a1`), repair(600)],
      'NodeInterval',
    ],
    ['of a job with another kind of name', 'm-1-job', [repair(1, 'm-1-job')], 'NodeInterval'],
  ])('R26 the interval between two repairs: %s', (_what, job, repairs, expected) => {
    expect(reasonsOf(job, repairs)).toBe(expected);
  });

  it.each<[what: string, repair: RepairFact, expected: string]>([
    ['the same rule', { ...repair(86_400), replacedFor: 'hang' }, 'Lemon'],
    ['another rule', { ...repair(86_400), replacedFor: 'disk' }, 'permitted'],
    ['the same rule, eight days ago', { ...repair(691_200), replacedFor: 'hang' }, 'permitted'],
    ['none: the machine was repaired', repair(86_400), 'permitted'],
  ])('R26 repairs no hardware again of which a Machine was replaced for %s', (_what, found, expected) => {
    expect(reasonsOf('m-1-job', [found])).toBe(expected);
  });

  it('R26 repairs a machine again for a job of no rule, which replaced no Machine', () => {
    const ends = decideScene({
      policies: [policy()],
      machines: [machineFacts('m-1', { repairs: [repair(86_400)] }), ...machines(10).slice(1)],
      ask: { holder: { kind: 'RemedyOperationJob', name: 'm-1-job', revision: 'r-1' } },
    });
    expect(ends.permitted).toBe(true);
  });

  it('R26 counts a repair that changed nothing in the other limits of the machine', () => {
    expect(reasonsOf(`${CASE}-r2-a1`, [repair(1, `${CASE}-r1-a1`)], 1)).toBe('NodeJobLimit');
  });
});
