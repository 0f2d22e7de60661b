import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type {
  DefenderLedgerSpec,
  DefenderPolicySpec,
  LedgerApproval,
} from '../../../src/api/generated/types.ts';
import type { FleetFacts } from '../../../src/defender/facts/facts.ts';
import { type LedgerPlan, planLedger } from '../../../src/defender/ledger/plan.ts';
import type { LedgerAnswer, LedgerRequest } from '../../../src/defender/ledger/requests.ts';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import {
  ago,
  ask,
  breaker,
  entry,
  explain,
  fleetFacts,
  ledgerSpec,
  machines,
  NOW,
  policy,
} from '../builders.ts';

const LIMIT: Partial<DefenderPolicySpec> = {
  concurrency: [{ name: 'l', per: 'Cluster', actions: [], max: 2 }],
  rates: [{ name: 'r', per: 'Cluster', actions: ['Reboot'], risks: [], max: 9, windowSeconds: 3600 }],
};

describe('planLedger', () => {
  it('R13 decides a batch in order, each ask with the grants before it, for one write', () => {
    const { next, answers } = plan({}, ['m-1', 'm-2', 'm-3'].map(askFor));
    expect(answers.map(text)).toEqual([
      'm-1 g-8-0 fence 8 Granted until 12:05:00',
      'm-2 g-8-1 fence 8 Granted until 12:05:00',
      'ConcurrencyCluster [fleet-default]: cluster: 2 out of service or in work, and at most 2 allowed by limit l',
    ]);
    expect(next).toMatchObject({ seq: 8, rates: { 'fleet-default/r/cluster': { counts: [2] } } });
    expect(next?.grants['m-1']?.keys).toEqual({ zone: 'a', pool: 'web' });
  });

  it('counts no grant that an earlier request of the batch has ended', () => {
    const grants = { 'm-1': entry('m-1', { state: 'Granted' }), 'm-2': entry('m-2') };
    const unused = { id: 'g-m-1', fence: 7, outcome: 'Unused' } as const;
    const { answers } = plan({ grants }, [{ kind: 'settle', settlement: unused }, askFor('m-3')]);
    expect(answers.map(({ kind }) => kind)).toEqual(['done', 'entry']);
  });

  it('writes nothing for denials, dry runs and unchanged content', () => {
    const denied = plan({ grants: { 'm-1': entry('m-1'), 'm-2': entry('m-2') } }, [askFor('m-3')]);
    expect(denied.next).toBeUndefined();
    const dry = plan({}, [{ ...askFor('m-1'), dryRun: true }, { kind: 'sweep' }]);
    expect([dry.next, dry.answers.map(({ kind }) => kind)]).toEqual([undefined, ['allowance', 'done']]);
  });

  it('R13 answers a repeated ask with the grant that exists, and counts it once', () => {
    const first = plan({}, [askFor('m-1')]);
    const again = plan(first.next ?? {}, [askFor('m-1')]);
    expect(again.answers).toEqual(first.answers);
    expect(again.next).toBeUndefined();
  });

  it.each([
    ['a higher risk', { risk: 'Machine' }, 'NodeBusy'],
    ['a lower risk', { action: 'UpdateComponent', risk: 'Pod' }, 'NodeBusy'],
    ['another Node', { nodeUID: 'uid-2' }, 'NodeIdentityChanged'],
    ['another action', { action: 'Drain' }, 'NodeBusy'],
  ] as const)('R13 hands out no grant again for %s than it was issued for', (_, fields, reason) => {
    const first = plan({}, [askFor('m-1')]);
    const again = plan(first.next ?? {}, [{ kind: 'ask', ask: { ...askFor('m-1').ask, ...fields } }]);
    expect(again.answers).toMatchObject([{ kind: 'denial', denial: { reason } }]);
  });

  it('R25 hands out no grant again while the kill switch is engaged', () => {
    const first = plan({}, [askFor('m-1')]);
    const stop = {
      ...LIMIT,
      killSwitch: { engaged: true, scope: 'All', by: 'ann', reason: 'storm' },
    } as const;
    expect(plan(first.next ?? {}, [askFor('m-1')], { spec: stop }).answers.map(text)).toEqual([
      'KillSwitch [fleet-default]: kill switch engaged by ann: storm',
    ]);
  });

  it('R18 settles whatever is open or stale, and only once', () => {
    const settlement = { id: 'g-m-1', fence: 7, outcome: 'Failed' } as const;
    const facts = {
      view: { ageSeconds: undefined, apiErrorPercent: undefined, clockSkewSeconds: undefined },
    };
    const settled = plan({ grants: { 'm-1': entry('m-1') } }, [{ kind: 'settle', settlement }], { facts });
    expect(settled.next?.grants['m-1']).toMatchObject({
      state: 'Settled',
      outcome: 'Failed',
      settledAt: NOW.toISOString(),
    });
    expect(plan(settled.next ?? {}, [{ kind: 'settle', settlement }]).next).toBeUndefined();
  });

  it('drops a grant that was never used, and nothing with a wrong clock', () => {
    const unused = { id: 'g-m-1', fence: 7, outcome: 'Unused' } as const;
    const granted = { grants: { 'm-1': entry('m-1', { state: 'Granted', notAfter: ago(1) }) } };
    expect(
      plan({ grants: { 'm-1': entry('m-1', { state: 'Granted' }) } }, [
        { kind: 'settle', settlement: unused },
      ]).next?.grants,
    ).toEqual({});
    expect(plan(granted, [{ kind: 'sweep' }]).next?.grants).toEqual({});
    const view = { ageSeconds: 0, apiErrorPercent: 0, clockSkewSeconds: 3600 };
    expect(plan(granted, [{ kind: 'sweep' }], { facts: { view } }).next).toBeUndefined();
  });

  it('R32 finishes a recovery when every unrecorded grant has ended, and not before', () => {
    expect(plan(since(299), [{ kind: 'sweep' }]).next).toBeUndefined();
    const { next } = plan(since(300), [{ kind: 'sweep' }, askFor('m-1')]);
    expect(next).toMatchObject({ recovering: false, grants: { 'm-1': { state: 'Granted' } } });
    expect(next).not.toHaveProperty('recoveringSince');
  });

  it('uses an approval once', () => {
    const answer = {
      action: 'Reboot',
      holder: 'm-1-job',
      decision: 'Approved',
      by: 'ann',
      at: ago(9),
      until: ago(-9),
    } as const;
    const approval = [
      { name: 'all', risks: [], actions: [], onlyLocalData: false, approvers: ['sre'], timeoutSeconds: 60 },
    ];
    const { next } = plan({ approvals: { 'm-1': answer } }, [askFor('m-1')], {
      spec: { ...LIMIT, approval },
    });
    expect(next).toMatchObject({ approvals: {}, grants: { 'm-1': { state: 'Granted' } } });
  });

  it('keeps the first of two answers of people, and lets an approval be taken back', () => {
    const first = {
      action: 'Reboot',
      holder: 'm-1-job',
      decision: 'Approved',
      by: 'ann',
      at: ago(9),
      until: ago(-9),
    } as const;
    const second = { ...first, by: 'bob', at: ago(0) };
    const answers = (...approvals: readonly (typeof first | LedgerApproval)[]): LedgerPlan =>
      plan(
        {},
        approvals.map((approval) => ({ kind: 'approval', machine: 'm-1', approval })),
      );
    expect(answers(first, second)).toMatchObject({
      answers: [{ kind: 'done' }, { kind: 'denial', denial: { reason: 'ApprovalRefused' } }],
      next: { approvals: { 'm-1': { by: 'ann' } } },
    });
    const taken = answers(first, { ...second, decision: 'Refused' }, { ...second, by: 'eve' });
    expect(taken.answers.map(({ kind }) => kind)).toEqual(['done', 'done', 'denial']);
    expect(taken.next?.approvals).toMatchObject({ 'm-1': { by: 'bob', decision: 'Refused' } });
  });

  it('records who closed a breaker and why, of the last 16', () => {
    const waiting = { state: 'NeedsPerson', since: ago(60), trips: 3 } as const;
    const closes = Array.from({ length: 20 }, (_, index): LedgerRequest => {
      const closure = { by: 'ann', reason: `reason ${index}`, at: ago(20 - index) };
      return { kind: 'closeBreaker', id: `p/b/${index}`, closure };
    });
    const { next } = plan({ breakers: { 'p/b/19': waiting } }, closes);
    expect(next?.breakers).toEqual({});
    expect(Object.keys(next?.closures ?? {}).length).toBe(16);
    expect(next?.closures).toMatchObject({ 'p/b/19': { by: 'ann', reason: 'reason 19' } });
    expect(next?.closures).not.toHaveProperty('p/b/3');
  });

  it('R18 gives the probe of a half-open breaker to the next act when the one before never began', () => {
    const half = { state: 'HalfOpen', since: ago(900), trips: 1, probe: 'm-9' } as const;
    const spec = { ...LIMIT, breakers: [breaker({ per: 'Cluster' })] };
    const ledger = { breakers: { 'fleet-default/b/cluster': half } };
    const lapsed = { 'm-9': entry('m-9', { state: 'Granted', notAfter: ago(1) }) };
    const { next, answers } = plan({ ...ledger, grants: lapsed }, [askFor('m-1')], { spec });
    expect(answers.map(({ kind }) => kind)).toEqual(['entry']);
    expect(next?.breakers).toMatchObject({ 'fleet-default/b/cluster': { state: 'HalfOpen', probe: 'm-1' } });
    const busy = plan({ ...ledger, grants: { 'm-9': entry('m-9') } }, [askFor('m-1')], { spec });
    expect(busy.answers).toMatchObject([{ denial: { reason: 'BreakerHalfOpenBusy' } }]);
  });

  it('R17 grants nothing by itself when a breaker closes that denied 10,000 asks in three days', () => {
    const spec = { ...LIMIT, breakers: [breaker({ per: 'Cluster' })] };
    const open = { state: 'Open', since: ago(60), trips: 1, closesAt: ago(-999_999) } as const;
    const ledger = { breakers: { 'fleet-default/b/cluster': open } };
    for (let batch = 0; batch < 100; batch += 1) {
      const asks = Array.from({ length: 100 }, (_, n) => askFor(`m-${(n % 10) + 1}`));
      const now = new Date(+NOW + batch * 2_592_000);
      const { next, answers } = plan(
        ledger,
        asks.map((request) => at(request, +now)),
        { spec, now },
      );
      expect(next).toBeUndefined();
      expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(['denial']));
    }
    const closure = { by: 'ann', reason: 'healed', at: ago(0) };
    const close = { kind: 'closeBreaker', id: 'fleet-default/b/cluster', closure } as const;
    expect(plan(ledger, [close, { kind: 'sweep' }], { spec }).next).toMatchObject({
      breakers: {},
      grants: {},
    });
  });

  it('R13 writes nothing that the server refuses, whatever is full', () => {
    const rate = { bucketSeconds: 300, firstBucketAt: ago(60), counts: [1] };
    const deletion = { pool: 'web', since: ago(60) };
    const approval = {
      action: 'Drain',
      holder: 'j',
      decision: 'Refused',
      by: 'ann',
      at: ago(9),
      until: ago(-9),
    } as const;
    const full = {
      rates: filled(128, 'p/r/', rate),
      gone: filled(512, 'old-', deletion),
      approvals: filled(64, 'm-', approval),
      grants: { 'm-1': entry('m-1', { action: 'DeleteMachine' }) },
    };
    const spec = { ...LIMIT, breakers: [breaker({ count: 1 })] };
    const settlement = { id: 'g-m-1', fence: 7, outcome: 'Failed' } as const;
    const { next, answers } = plan(
      full,
      [
        { kind: 'settle', settlement },
        { kind: 'deleted', machine: 'm-x', deleted: deletion },
        { kind: 'approval', machine: 'm-x', approval },
        { kind: 'reviewBreakers' },
      ],
      { spec },
    );
    expect(answers).toMatchObject([
      { kind: 'done' },
      { kind: 'denial', denial: { reason: 'LedgerFull', message: 'gone of the ledger: 512 of 512 entries' } },
      { kind: 'denial', denial: { reason: 'LedgerFull' } },
      { kind: 'done' },
    ]);
    expect(next?.grants['m-1']).toMatchObject({ state: 'Settled' });
    expect(next?.breakers).toMatchObject({ 'fleet-default/b/web': { state: 'Open' } });
    const sizes = [next?.rates, next?.gone, next?.approvals].map((map) => Object.keys(map ?? {}).length);
    expect(sizes).toEqual([128, 512, 64]);
  });

  it('reviews no breaker and records no answer with a clock that cannot be trusted', () => {
    const view = { ageSeconds: 0, apiErrorPercent: 0, clockSkewSeconds: 3600 };
    const open = { state: 'Open', since: ago(900), closesAt: ago(1), trips: 1 } as const;
    const approval = {
      action: 'Drain',
      holder: 'j',
      decision: 'Approved',
      by: 'ann',
      at: ago(9),
      until: ago(-9),
    } as const;
    const { next, answers } = plan(
      { breakers: { 'fleet-default/b/web': open } },
      [{ kind: 'reviewBreakers' }, { kind: 'approval', machine: 'm-1', approval }],
      { spec: { ...LIMIT, breakers: [breaker()] }, facts: { view } },
    );
    expect(next).toBeUndefined();
    expect(answers).toMatchObject([{ kind: 'done' }, { kind: 'denial', denial: { reason: 'FactUnknown' } }]);
  });

  it('R13 begins a grant that is asked for again as started, for a holder that cannot renew it', () => {
    const first = plan({}, [askFor('m-1')]);
    const again = plan(first.next ?? {}, [{ kind: 'ask', ask: ask({ started: true }) }]);
    expect(again.answers).toMatchObject([{ kind: 'entry', entry: { id: 'g-8-0', state: 'Started' } }]);
    expect(again.next?.grants['m-1']).toMatchObject({ state: 'Started', fence: 8 });
  });

  it('R13 never has more in flight than the limit, and one grant a machine, in any order of requests', () => {
    const anyRequest = fc.oneof(
      fc.constantFrom('m-1', 'm-2', 'm-3', 'm-4').map(askFor),
      fc.record({
        machine: fc.constantFrom('m-1', 'm-2', 'm-3', 'm-4'),
        verb: fc.constantFrom('renew', 'settle'),
      }),
      fc.constant({ kind: 'sweep' } as const),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(anyRequest, fc.nat(400)), { maxLength: 40 }), (steps) => {
        let ledger = ledgerSpec();
        let now = +NOW;
        for (const [step, seconds] of steps) {
          now += seconds * 1000;
          const request = 'verb' in step ? verbOf(ledger, step) : at(step, now);
          const { next } = plan(ledger, [request], { now: new Date(now) });
          expect(next?.seq ?? ledger.seq + 1).toBe(ledger.seq + 1);
          ledger = next ?? ledger;
          const inFlight = Object.values(ledger.grants).filter(({ state }) => state !== 'Settled');
          expect(inFlight.length).toBeLessThanOrEqual(2);
        }
      }),
    );
  });
});

function since(seconds: number): Partial<DefenderLedgerSpec> {
  return { recovering: true, recoveringSince: ago(seconds) };
}

interface Given {
  readonly spec?: Partial<DefenderPolicySpec>;
  readonly facts?: Partial<FleetFacts>;
  readonly now?: Date;
}

function plan(
  ledger: Partial<DefenderLedgerSpec>,
  requests: readonly LedgerRequest[],
  { spec = LIMIT, facts = {}, now = NOW }: Given = {},
): LedgerPlan {
  const policies = [policy(spec)];
  const fleet = fleetFacts(machines(10), policies, facts);
  return planLedger(
    { ledger: ledgerSpec(ledger), policies: preparePolicies(policies), facts: fleet, now, epoch: 1 },
    requests,
  );
}

function filled<T>(count: number, key: string, value: T): Record<string, T> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`${key}${n}`, value]));
}

function askFor(machine: string): LedgerRequest & { readonly kind: 'ask' } {
  return { kind: 'ask', ask: ask({ machine }) };
}

function at(request: LedgerRequest, now: number): LedgerRequest {
  return request.kind === 'ask' ? { ...request, ask: { ...request.ask, factsAt: new Date(now) } } : request;
}

function verbOf(
  ledger: DefenderLedgerSpec,
  { machine, verb }: { machine: string; verb: string },
): LedgerRequest {
  const { id = 'none', fence = 0 } = ledger.grants[machine] ?? {};
  if (verb === 'renew') return { kind: 'renew', renewal: { id, fence } };
  return { kind: 'settle', settlement: { id, fence, outcome: 'Succeeded' } };
}

function text(answer: LedgerAnswer): string {
  if (answer.kind === 'denial') return explain(answer.denial);
  if (answer.kind !== 'entry') return answer.kind;
  const { id, fence, state, notAfter } = answer.entry;
  return `${answer.machine} ${id} fence ${fence} ${state} until ${notAfter.slice(11, 19)}`;
}
