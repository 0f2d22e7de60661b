import { describe, expect, it } from 'vitest';
import type { DenyReason } from '../../../src/api/deny-reasons.ts';
import type { DefenderPolicy, DefenderPolicySpec, LedgerBreaker } from '../../../src/api/generated/types.ts';
import type { MachineFacts } from '../../../src/defender/facts/facts.ts';
import type { Guard } from '../../../src/defender/guards/guard.ts';
import { GUARD_IDS, GUARDS } from '../../../src/defender/guards/guards.ts';
import { ledgerRule } from '../../rollout/rule-waves/builders.ts';
import { allowance } from '../allowance/builders.ts';
import {
  ago,
  breaker,
  decideScene,
  entry,
  machineFacts,
  machines,
  NOW,
  policy,
  type Scene,
} from '../builders.ts';
import { FIXTURES } from '../fixtures.ts';

const SALE = {
  name: 'sale',
  from: '2029-01-01T00:00:00Z',
  until: '2031-01-01T00:00:00Z',
  reason: 'x',
  risks: [],
};

const FULL_OF_RULES = Object.fromEntries(
  Array.from({ length: 256 }, (_, index) => [`rule-${index}`, ledgerRule({ heardAt: NOW.toISOString() })]),
);
/** Scenes that no fixture has: facts that guards need and that were not observed, and breakers of a common cause. */
const MORE_SCENES: readonly Scene[] = [
  { facts: { view: { ageSeconds: 0, apiErrorPercent: 0, clockSkewSeconds: undefined } } },
  unobserved('nodeCreatedAt'),
  unobserved('repairs'),
  {
    ...unobserved('foreignLeases'),
    policies: [blocking({ foreign: [{ lease: 'medik8s-leases/node-{node}' }] })],
  },
  { ...unobserved('blockingPods'), policies: [blocking({ podLabels: ['block=true'] })] },
  { ledger: { allowance: allowance({ killSwitch: { engaged: true, scope: 'All', by: 'a', reason: 'b' } }) } },
  commonCause({ state: 'NeedsPerson' }),
  commonCause({ state: 'HalfOpen', probe: 'm-4' }),
  { ledger: { rules: FULL_OF_RULES }, ask: { ruleDigest: 'd-1' } },
];

describe('GUARDS', () => {
  it.each(FIXTURES)('R29 name $reason where they give it', ({ reason, scene }) => {
    const others = GUARDS.filter(({ reasons }) => !reasons.includes(reason));
    expect(reasonsOf(scene, others)).toContain(reason);
  });

  it.each(GUARDS.flatMap((guard) => guard.reasons.map((reason) => ({ ...guard, reason }))))(
    'R29 name only what they give: $id gives $reason',
    ({ id, reason }) => {
      const others = GUARDS.filter((guard) => guard.id !== id);
      const scenes = [...FIXTURES.map(({ scene }) => scene), ...MORE_SCENES];
      expect(scenes.some((scene) => reasonsOf(scene, others).includes(reason))).toBe(true);
    },
  );

  it('has one id for each guard', () => {
    expect(new Set(GUARD_IDS).size).toBe(GUARDS.length);
  });

  it('R18 is skipped by a recovery as the table of defender.md section 3 promises, and otherwise never', () => {
    const skipped = GUARDS.filter(({ skippedByRecovery }) => skippedByRecovery).map(({ id }) => id);
    expect(skipped).toEqual([
      'dark-zone',
      'zonal-shift',
      'breaker-open',
      'common-cause',
      'fleet-cause',
      'storm-cooldown',
      'quiet-window',
      'freeze',
      'alerts',
      'node-age',
      'repair-limits',
      'last-ready',
      'concurrency',
      'rates',
      'rule-waves',
      'fleet-limits',
    ]);
  });

  it('R18 lets a rollback through budgets, breakers and windows, and not through the kill switch', () => {
    const rollback = { action: 'UpdateComponent', recovery: true } as const;
    const full = {
      concurrency: [{ name: 'l', per: 'Cluster' as const, actions: [], max: 0 }],
      freezes: [SALE],
    };
    expect(decideScene({ policies: [policy(full)] }).permitted).toBe(false);
    expect(decideScene({ policies: [policy(full)], ask: rollback }).permitted).toBe(true);
    const stopped = policy({ ...full, killSwitch: { engaged: true, scope: 'All', by: 'ann', reason: 'x' } });
    expect(decideScene({ policies: [stopped], ask: rollback })).toMatchObject({ reason: 'KillSwitch' });
    const busy = { grants: { 'm-1': entry('m-1') } };
    expect(decideScene({ ledger: busy, ask: rollback })).toMatchObject({ reason: 'NodeBusy' });
  });

  it.each([
    ['Remedy', 'RemedyOperationJob', false],
    ['Remedy', 'MachineComponentSet', true],
    ['Rollout', 'RemedyOperationJob', true],
    ['Rollout', 'MachineComponentSet', false],
    ['All', 'Other', false],
  ] as const)('R25 a kill switch for %s, asked by a %s: permitted %s', (scope, kind, permitted) => {
    const stop = policy(
      { mode: 'Audit', killSwitch: { engaged: true, scope, by: 'ann', reason: 'x' } },
      'stop',
    );
    const holder = { kind, name: 'x', revision: 'r-1' };
    expect(decideScene({ policies: [policy(), stop], ask: { holder } }).permitted).toBe(permitted);
  });

  it('R25 a kill switch ends at its time', () => {
    const ended = {
      engaged: true,
      scope: 'All',
      by: 'ann',
      reason: 'x',
      until: '2030-01-01T11:59:59Z',
    } as const;
    expect(decideScene({ policies: [policy({ killSwitch: ended })] }).permitted).toBe(true);
  });

  it('R24 exempts fault classes from a quiet window, and other risks from a freeze', () => {
    const quiet = {
      name: 'noon',
      start: '11:00',
      end: '13:00',
      timeZone: 'UTC',
      risks: [],
      exceptFaultClasses: ['GPU' as const],
    };
    const scene = { policies: [policy({ quiet: [quiet] })] };
    expect(decideScene(scene).permitted).toBe(false);
    expect(decideScene({ ...scene, ask: { faultClass: 'GPU' } }).permitted).toBe(true);
    const freezes = [{ ...SALE, risks: ['Pod' as const] }];
    expect(decideScene({ policies: [policy({ freezes })] }).permitted).toBe(true);
  });
});

function reasonsOf(scene: Scene, without: readonly Guard[]): readonly DenyReason[] {
  const decision = decideScene(scene, new Set(without.map(({ id }) => id)));
  return decision.permitted ? [] : [decision, ...decision.also].map(({ reason }) => reason);
}

function unobserved(fact: keyof MachineFacts): Scene {
  const { [fact]: _, ...facts } = machineFacts('m-1');
  return { machines: [facts as MachineFacts, ...machines(10).slice(1)] };
}

function blocking(blockers: Partial<DefenderPolicySpec['blockers']>): DefenderPolicy {
  return policy({ blockers: { foreign: [], podLabels: [], minNodeAgeSeconds: 0, promql: [], ...blockers } });
}

function commonCause(state: Partial<LedgerBreaker>): Scene {
  const breakers = { 'fleet-default/b/kernelVersion=6.9': { since: ago(60), trips: 1, ...state } };
  const declared = breaker({ type: 'CommonCause', dimensions: ['kernelVersion'] });
  return {
    machines: machines(10, { dimensions: { kernelVersion: '6.9' } }),
    policies: [policy({ breakers: [declared] })],
    ledger: { breakers: breakers as Record<string, LedgerBreaker> },
  };
}
