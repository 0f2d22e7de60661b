import { describe, expect, it } from 'vitest';
import type { DefenderPolicy, LedgerRule } from '../../../src/api/generated/types.ts';
import { heldRules, ruleHeld } from '../../../src/defender/controller/held-rules.ts';
import type { FleetFacts } from '../../../src/defender/facts/facts.ts';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import { ledgerRule, TERMS } from '../../rollout/rule-waves/builders.ts';
import { fleetFacts, ledgerSpec, machines, NOW, policy } from '../builders.ts';

const FLEET_DEFAULT = [policy({ ruleWaves: TERMS })];

function held(
  rules: Readonly<Record<string, Partial<LedgerRule>>>,
  modeOfRule?: FleetFacts['modeOfRule'],
  policies: readonly DefenderPolicy[] = FLEET_DEFAULT,
): readonly string[] | undefined {
  const entries = Object.entries(rules).map(([name, fields]) => [name, ledgerRule(fields)]);
  const facts = fleetFacts(machines(100), policies, modeOfRule ? { modeOfRule } : {});
  const ledger = ledgerSpec({ rules: Object.fromEntries(entries) as Record<string, LedgerRule> });
  return heldRules(ledger, { policies: preparePolicies(policies), facts, now: NOW });
}

const FAILED = { failed: ['m-1'] };
const HANG =
  'rule hang begins no repair: wave 1 of 4: 1 of 1 repairs failed, and at least 90 % must succeed: change or revert the rule';

describe('the rules that a failed wave holds', () => {
  it.each<[string, Parameters<typeof held>, readonly string[] | undefined]>([
    ['none while waves are open or passed', [{ a: {}, b: { succeeded: 1 } }], []],
    ['one of which too many repairs failed', [{ hang: FAILED, disk: {} }], [HANG]],
    ['none within what the wave tolerates', [{ a: { wave: 4, failed: ['m-1', 'm-2'], succeeded: 9 } }], []],
    ['none of which a proven version acts', [{ a: { ...FAILED, proven: ['d-1'] } }], []],
    ['one of which another version is proven', [{ hang: { ...FAILED, proven: ['d-0'] } }], [HANG]],
    ['none that only observes', [{ hang: FAILED }, () => 'Observe'], []],
    ['none that was deleted', [{ hang: FAILED }, () => 'Absent'], []],
    ['one that acts', [{ hang: FAILED }, () => 'Enforce'], [HANG]],
    ['unknown without the policy of the waves', [{ hang: FAILED }, undefined, []], undefined],
  ])('R10 are, by the ledger and the rules that exist: %s', (_, given, expected) => {
    expect(held(...given)).toEqual(expected);
  });

  it('R10 are named in a condition, the first of them with what to do', () => {
    const names = ['f', 'e', 'd', 'c', 'b', 'a'];
    const texts = held(Object.fromEntries(names.map((name) => [name, FAILED])));
    expect(ruleHeld(texts)).toMatchObject({ status: 'True', reason: 'WaveFailed' });
    expect(ruleHeld(texts).message).toMatch(/^rule a begins no repair: .*; rule e begins .*; and 1 more$/);
    expect(ruleHeld([])).toMatchObject({ status: 'False', reason: 'NoneHeld' });
    expect(ruleHeld(undefined)).toMatchObject({ status: 'Unknown', reason: 'PolicyMissing' });
  });
});
