import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DENY_REASONS, type DenyReason } from '../../src/api/deny-reasons.ts';
import type { DefenderPolicySpec } from '../../src/api/generated/types.ts';
import type { FleetFacts } from '../../src/defender/facts/facts.ts';
import {
  ago,
  decideScene,
  entry,
  explain,
  ledgerSpec,
  machineFacts,
  machines,
  policy,
  type Scene,
} from './builders.ts';
import { FIXTURES, OF_LATER_VERSIONS, OF_THE_LEDGER } from './fixtures.ts';

describe('decide', () => {
  it('R13 grants what no guard objects to', () => {
    expect(explain(decideScene({}))).toBe('granted');
  });

  it.each(FIXTURES)('R29 denies with $reason, and names what decides', ({ reason, scene, because }) => {
    const decision = decideScene(scene);
    expect(explain(decision)).toBe(because);
    expect(decision.permitted ? 'granted' : decision.reason).toBe(reason);
  });

  it('R29 has a fixture for every reason that can occur', () => {
    const covered = new Set<DenyReason>([
      ...FIXTURES.map(({ reason }) => reason),
      ...OF_THE_LEDGER,
      ...OF_LATER_VERSIONS,
    ]);
    expect(DENY_REASONS.filter((reason) => !covered.has(reason))).toEqual([]);
  });

  it('R29 lists the other causes in order of precedence, and retryAt only when time ends all of them', () => {
    const windowed: Partial<DefenderPolicySpec> = {
      freezes: [{ name: 'sale', from: ago(60), until: ago(-600), reason: 'sale', risks: [] }],
    };
    const interval = machineFacts('m-1', { repairs: [{ at: new Date(ago(1000)), rebooted: false }] });
    const all = [interval, ...machines(10).slice(1)];
    const ends = decideScene({ policies: [policy(windowed)], machines: all });
    expect(ends.permitted ? [] : [ends.reason, ...ends.also.map(({ reason }) => reason)]).toEqual([
      'Freeze',
      'NodeInterval',
    ]);
    expect(ends).toMatchObject({ retryAt: new Date(ago(-800)) });
    const busy = decideScene({
      policies: [policy(windowed)],
      machines: all,
      ledger: { grants: { 'm-1': entry('m-1') } },
    });
    expect(busy).not.toHaveProperty('retryAt');
  });

  it('R13 takes the tighter of two policies that overlap', () => {
    const scene: Scene = {
      policies: [policy(perPool(3)), policy(perPool(1), 'gpu')],
      ledger: { grants: { 'm-2': entry('m-2') } },
    };
    expect(explain(decideScene(scene))).toBe(
      'ConcurrencyPool [gpu]: pool web: 1 out of service or in work, and at most 1 allowed by limit pool',
    );
  });

  it('records what a policy in mode Audit would deny, and denies nothing by it', () => {
    const audit = policy(
      { mode: 'Audit', concurrency: [{ name: 'none', per: 'Cluster', actions: [], max: 0 }] },
      'new',
    );
    const decision = decideScene({ policies: [policy(), audit] });
    expect(decision).toMatchObject({
      permitted: true,
      audit: [{ reason: 'ConcurrencyCluster', policy: 'new' }],
    });
  });

  it('does not depend on the order of policies', () => {
    const kinds = [
      policy(),
      policy({ concurrency: [{ name: 'x', per: 'Pool', actions: [], max: 0 }] }, 'b'),
      policy({ concurrency: [{ name: 'x', per: 'Pool', actions: [], max: 0 }] }, 'a'),
    ];
    expect(decideScene({ policies: kinds })).toEqual(decideScene({ policies: kinds.toReversed() }));
  });
});

function perPool(max: number): Partial<DefenderPolicySpec> {
  return { concurrency: [{ name: 'pool', per: 'Pool', actions: [], max }] };
}

const anyMachines = fc
  .array(fc.constantFrom('Ready', 'Ready', 'Ready', 'NotReady', 'Unknown', 'cordoned', 'work'), {
    minLength: 2,
    maxLength: 30,
  })
  .map((words) => {
    const all = words.map((word, index) =>
      machineFacts(`m-${index + 1}`, {
        readiness: word === 'NotReady' || word === 'Unknown' ? word : 'Ready',
        cordoned: word === 'cordoned',
        zone: index % 3 === 0 ? 'a' : 'b',
      }),
    );
    const grants = words.flatMap((word, index) =>
      word === 'work' && index > 0 ? [[`m-${index + 1}`, entry(`m-${index + 1}`)] as const] : [],
    );
    return { machines: all, ledger: { grants: Object.fromEntries(grants) } };
  });

const anySpec: fc.Arbitrary<Partial<DefenderPolicySpec>> = fc.record(
  {
    concurrency: fc
      .record({
        per: fc.constantFrom('Cluster' as const, 'Zone' as const, 'Pool' as const),
        max: fc.oneof(fc.nat(6), fc.constantFrom('5%', '10%', '50%')),
      })
      .map((limit) => [{ name: 'l', actions: [], ...limit }]),
    zones: fc.record({ haltPercent: fc.integer({ min: 20, max: 100 }), minNodes: fc.constant(3) }),
    freezes: fc.constantFrom([], [{ name: 'f', from: ago(60), until: ago(-60), reason: 'x', risks: [] }]),
  },
  { requiredKeys: ['concurrency'] },
);

describe('decide, for any fleet', () => {
  it('R13 never permits more when a policy is added', () => {
    fc.assert(
      fc.property(anyMachines, anySpec, anySpec, (scene, first, second) => {
        const alone = decideScene({ ...scene, policies: [policy(first)] });
        const both = decideScene({ ...scene, policies: [policy(first), policy(second, 'more')] });
        const other = decideScene({ ...scene, policies: [policy({}), policy(second, 'more')] });
        expect(both.permitted).toBe(alone.permitted && other.permitted);
      }),
    );
  });

  it('R13 never permits more when a fact becomes unknown', () => {
    const unknowns: readonly Partial<FleetFacts>[] = [
      { view: { ageSeconds: undefined, apiErrorPercent: 0, clockSkewSeconds: 0 } },
      { view: { ageSeconds: 0, apiErrorPercent: undefined, clockSkewSeconds: 0 } },
      { view: { ageSeconds: 0, apiErrorPercent: 0, clockSkewSeconds: undefined } },
      { machine: () => undefined },
    ];
    fc.assert(
      fc.property(anyMachines, anySpec, fc.constantFrom(...unknowns), (scene, spec, facts) => {
        expect(decideScene({ ...scene, policies: [policy(spec)], facts }).permitted).toBe(false);
      }),
    );
    fc.assert(
      fc.property(anyMachines, anySpec, fc.nat(29), (scene, spec, index) => {
        const known = decideScene({ ...scene, policies: [policy(spec)] });
        const one = (index % (scene.machines.length - 1)) + 1;
        const doubted = scene.machines.map((machine, at) =>
          at === one && machine.readiness === 'Ready'
            ? { ...machine, readiness: 'Unknown' as const }
            : machine,
        );
        const unknown = decideScene({ ...scene, machines: doubted, policies: [policy(spec)] });
        expect(unknown.permitted && !known.permitted).toBe(false);
      }),
    );
  });

  it('R14 never permits an act beyond a limit, counted from the machines', () => {
    fc.assert(
      fc.property(anyMachines, fc.nat(6), (scene, max) => {
        const limit = policy({ concurrency: [{ name: 'l', per: 'Cluster', actions: [], max }] });
        const decision = decideScene({ ...scene, policies: [limit] });
        if (!decision.permitted) return;
        const out = scene.machines.filter(
          ({ name, readiness, cordoned }) => readiness !== 'Ready' || cordoned || name in scene.ledger.grants,
        );
        const isCounted = out.some(({ name }) => name === 'm-1');
        const taken = Object.keys(ledgerSpec(scene.ledger).grants).length;
        expect(isCounted ? taken + 1 : out.length + 1).toBeLessThanOrEqual(max);
      }),
    );
  });
});
