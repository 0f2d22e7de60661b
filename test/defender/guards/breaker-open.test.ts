import { describe, expect, it } from 'vitest';
import type { Breaker } from '../../../src/api/generated/types.ts';
import type { GrantAsk } from '../../../src/api/grants.ts';
import { beginCooldown } from '../../../src/defender/breakers/storm.ts';
import { createDraft } from '../../../src/defender/ledger/draft.ts';
import { breaker, decideScene, entry, explain, ledgerSpec, NOW, policy, secondsAgo } from '../builders.ts';

const MACHINE_ONLY = breaker({ risks: ['Machine'] });
const CLEAN = { action: 'CleanDisk', risk: 'None' } as const;
const REPLACE = { action: 'ReplaceMachine', risk: 'Machine' } as const;

function decisionUnder(declared: Breaker, ask: Partial<GrantAsk>, key = 'web'): string {
  const breakers = {
    [`fleet-default/b/${key}`]: {
      state: 'Open',
      since: secondsAgo(60).toISOString(),
      trips: 1,
      evidence: 'it failed',
    } as const,
  };
  return explain(decideScene({ policies: [policy({ breakers: [declared] })], ledger: { breakers }, ask }));
}

describe('an open breaker', () => {
  it.each<[string, Breaker, Partial<GrantAsk>, boolean]>([
    ['an act of a risk that it stops', MACHINE_ONLY, REPLACE, false],
    ['an act of another risk', MACHINE_ONLY, {}, true],
    ['a disruptive act, without a list of risks', breaker(), {}, false],
    ['an act without risk, without a list of risks', breaker(), CLEAN, true],
  ])('R18 denies only what it is for: %s', (_, declared, ask, granted) => {
    const denied = 'BreakerOpen [fleet-default]: breaker b of pool web is open: it failed';
    expect(decisionUnder(declared, ask)).toBe(granted ? 'granted' : denied);
  });

  it('R18 denies nothing in another pool', () => {
    expect(decisionUnder(breaker(), {}, 'db')).toBe('granted');
  });
});

describe('the end of a storm', () => {
  const storm = breaker({ type: 'UnhealthyRatio', per: 'Cluster', percent: 20, count: 3 });

  function decisionAfter(declared: Breaker, ask: Partial<GrantAsk>): boolean {
    const draft = createDraft(ledgerSpec());
    beginCooldown(draft, 'fleet-default/b/cluster', storm, NOW);
    const ledger = { rates: draft.rates, grants: { 'm-2': entry('m-2') } };
    return decideScene({ policies: [policy({ breakers: [declared] })], ledger, ask }).permitted;
  }

  it('R18 holds back only the acts that its breaker is for', () => {
    expect(decisionAfter(storm, {})).toBe(false);
    expect(decisionAfter(storm, CLEAN)).toBe(true);
    expect(decisionAfter({ ...storm, risks: ['Machine'] }, {})).toBe(true);
    expect(decisionAfter({ ...storm, type: 'FailedActs' }, {})).toBe(true);
  });
});
