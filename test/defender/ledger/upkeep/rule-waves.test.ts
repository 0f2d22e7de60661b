import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DefenderLedgerSpec, RuleWaves } from '../../../../src/api/generated/types.ts';
import type { GrantAsk } from '../../../../src/api/grants.ts';
import { GUARDS } from '../../../../src/defender/guards/guards.ts';
import { planLedger } from '../../../../src/defender/ledger/plan.ts';
import type { LedgerAnswer, LedgerRequest } from '../../../../src/defender/ledger/requests.ts';
import { roomFor } from '../../../../src/defender/ledger/upkeep/rule-waves.ts';
import { preparePolicies } from '../../../../src/defender/policies/prepare.ts';
import { ledgerRule, TERMS } from '../../../rollout/rule-waves/builders.ts';
import { ask, fleetFacts, ledgerSpec, machines, NOW, policy } from '../../builders.ts';
import { ledgerBed } from '../bed.ts';

const FLEET = machines(100);
/** What else limits repairs is for other tests. */
const OTHERS = new Set(GUARDS.map(({ id }) => id).filter((id) => id !== 'rule-waves' && id !== 'one-act'));

/** A ledger that is written at once, with a clock. */
class WaveBed {
  ledger: DefenderLedgerSpec = ledgerSpec();
  waves: RuleWaves = TERMS;
  seconds = 0;

  run(...requests: readonly LedgerRequest[]): readonly LedgerAnswer[] {
    const policies = [policy({ ruleWaves: this.waves })];
    const now = new Date(+NOW + this.seconds * 1000);
    const facts = fleetFacts(FLEET, policies);
    const prepared = preparePolicies(policies);
    const input = { ledger: this.ledger, policies: prepared, facts, now, epoch: 1, without: OTHERS };
    const { next, answers } = planLedger(input, requests);
    this.ledger = next ?? this.ledger;
    return answers;
  }

  wait(seconds: number): void {
    this.seconds += seconds;
    this.run({ kind: 'sweep' });
  }

  announce(digest: string, rule = 'hang'): void {
    this.run({ kind: 'rule', version: { rule, digest } });
  }

  /** Returns the id of the grant, or the reason and message of the denial. */
  repair(machine: string, ruleDigest: string, fields: Partial<GrantAsk> = {}): string {
    const request = ask({ machine, ruleDigest, ...fields });
    const [answer] = this.run({ kind: 'ask', ask: request });
    if (answer?.kind === 'entry') {
      this.run({ kind: 'renew', renewal: { id: answer.entry.id, fence: answer.entry.fence } });
      return answer.entry.id;
    }
    return answer?.kind === 'denial' ? `${answer.denial.reason}: ${answer.denial.message}` : 'no answer';
  }

  settle(id: string, outcome: 'Succeeded' | 'Failed' | 'Unused', handedOff = false): void {
    this.run({ kind: 'settle', settlement: { id, fence: 9999, outcome, handedOff } });
    this.run({ kind: 'settle', settlement: { id, fence: 1, outcome, handedOff } });
    const found = Object.values(this.ledger.grants).find((grant) => grant.id === id);
    if (found) this.run({ kind: 'settle', settlement: { id, fence: found.fence, outcome, handedOff } });
  }

  heal(machine: string, digest: string): string {
    const id = this.repair(machine, digest);
    this.settle(id, 'Succeeded');
    return id;
  }
}

function provenBed(digest = 'a'): WaveBed {
  const bed = new WaveBed();
  bed.announce(digest);
  for (const machine of ['m-1', 'm-2', 'm-3', 'm-4']) {
    expect(bed.heal(machine, digest)).toMatch(/^g-/);
    bed.wait(1800);
  }
  expect(bed.ledger.rules?.['hang']?.proven).toEqual([digest]);
  return bed;
}

describe('waves of rules in the ledger', () => {
  it('R10 heals one machine, then 5 %, 20 % and all, each after success and soak', () => {
    const bed = new WaveBed();
    bed.announce('a');
    let next = 0;
    const begun = (): number => {
      const ids: string[] = [];
      while (next < 100) {
        const id = bed.repair(`m-${next + 1}`, 'a');
        if (!id.startsWith('g-')) break;
        ids.push(id);
        next += 1;
      }
      for (const id of ids) bed.settle(id, 'Succeeded');
      bed.wait(1799);
      expect(bed.repair('m-100', 'a')).toMatch(/^RuleWave: rule hang: wave \d of 4: /);
      bed.wait(1);
      return ids.length;
    };
    expect([begun(), begun(), begun()]).toEqual([1, 5, 20]);
    expect(bed.heal('m-90', 'a')).toMatch(/^g-/);
    bed.wait(1800);
    expect(bed.ledger.rules?.['hang']).toMatchObject({ proven: ['a'] });
    expect(
      FLEET.slice(0, 60)
        .map(({ name }) => bed.repair(name, 'a'))
        .filter((id) => !id.startsWith('g-')),
    ).toEqual([]);
  });

  it('R10 stops a rule whose repair fails at one node, names what unblocks it, and holds no other rule', () => {
    const bed = new WaveBed();
    bed.settle(bed.repair('m-1', 'a'), 'Failed');
    bed.wait(999_999);
    expect(bed.repair('m-2', 'a')).toBe(
      'RuleWave: rule hang: wave 1 of 4 failed: 1 of 1 repairs failed, and at least 90 % must succeed: change or revert the rule',
    );
    const disk = {
      kind: 'RemedyOperationJob',
      name: 'j',
      origin: 'NodeRemedier/disk',
      revision: 'r-1',
    } as const;
    expect(bed.repair('m-2', 'a', { holder: disk })).toMatch(/^g-/);
    expect(bed.repair('m-3', 'a', { action: 'Uncordon', risk: 'None' })).toMatch(/^g-/);
    expect(bed.repair('m-4', 'a', { action: 'HandOff', risk: 'None' })).toMatch(/^g-/);
  });

  it('R10 begins again with one machine when the rule changes within a wave, after a soak', () => {
    const bed = new WaveBed();
    bed.heal('m-1', 'a');
    bed.wait(1800);
    bed.heal('m-2', 'a');
    bed.announce('b');
    expect(bed.repair('m-3', 'b')).toMatch(/wave 1 of 4: a repair that proved nothing ended before/);
    bed.wait(1800);
    expect(bed.repair('m-3', 'b')).toMatch(/^g-/);
    expect(bed.repair('m-4', 'b')).toMatch(/wave 1 of 4: 1 of at most 1 machines; in work: m-3/);
  });

  it('R10 takes a revert to a proven version as proven, and does not let it skip the soak of the next change', () => {
    const bed = provenBed('a');
    bed.announce('b');
    bed.settle(bed.repair('m-10', 'b'), 'Failed');
    bed.announce('a');
    expect([bed.repair('m-11', 'a'), bed.repair('m-12', 'a')].every((id) => id.startsWith('g-'))).toBe(true);
    for (const { id } of Object.values(bed.ledger.grants)) bed.settle(id, 'Succeeded');
    bed.announce('c');
    expect(bed.repair('m-13', 'c')).toMatch(/a repair that proved nothing ended before/);
  });

  it('R10 takes no success of another version, of a hand-off, and of an act that was given up as proof', () => {
    const bed = new WaveBed();
    const id = bed.repair('m-1', 'a');
    bed.announce('b');
    bed.settle(id, 'Succeeded');
    expect(bed.ledger.rules?.['hang']).toMatchObject({ digest: 'b', succeeded: 0 });
    bed.wait(1800);
    bed.settle(bed.repair('m-2', 'b'), 'Unused');
    expect(bed.ledger.rules?.['hang']).toMatchObject({ succeeded: 0, failed: [] });
    bed.wait(1800);
    bed.settle(bed.repair('m-3', 'b'), 'Succeeded', true);
    expect(bed.ledger.rules?.['hang']).toMatchObject({ succeeded: 0, failed: ['m-3'] });
  });

  it('R10 judges a change by the policy that was in force before it, also when the change acts much later', () => {
    const bed = provenBed('a');
    bed.waves = { waves: ['100%'], soakSeconds: 0, minSuccessPercent: 0 };
    bed.announce('b');
    bed.wait(40 * 86_400);
    expect(bed.repair('m-10', 'b')).toMatch(/^g-/);
    expect(bed.repair('m-11', 'b')).toMatch(/wave 1 of 4/);
    bed.announce('c');
    expect(bed.ledger.rules?.['hang']?.terms).toEqual(TERMS);
    const later = provenBed('a');
    later.waves = bed.waves;
    later.wait(1);
    later.wait(86_400);
    later.announce('b');
    expect(later.ledger.rules?.['hang']?.terms).toEqual(bed.waves);
  });

  it('R10 gives an author who changes a rule 100 times in an hour two machines, not 100', () => {
    const bed = new WaveBed();
    const touched: string[] = [];
    for (let commit = 0; commit < 100; commit += 1) {
      bed.announce(`d-${commit}`);
      const id = bed.repair(`m-${commit + 1}`, `d-${commit}`);
      if (id.startsWith('g-')) {
        touched.push(`m-${commit + 1}`);
        bed.wait(20);
        bed.settle(id, commit % 2 === 0 ? 'Failed' : 'Succeeded');
      }
      bed.wait(36);
    }
    expect(touched.length).toBeLessThanOrEqual(2);
  });

  it('R10 never has more machines in work than its wave permits, whatever the order of changes', () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('repair' as const), at: fc.integer({ min: 1, max: 12 }) }),
      fc.record({ do: fc.constant('end' as const), at: fc.nat(5), good: fc.boolean() }),
      fc.record({ do: fc.constant('change' as const), at: fc.nat(3) }),
      fc.record({ do: fc.constant('wait' as const), at: fc.integer({ min: 1, max: 2000 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const bed = new WaveBed();
        let digest = 'd-0';
        for (const each of steps) {
          if (each.do === 'change') {
            digest = `d-${each.at}`;
            bed.announce(digest);
          } else if (each.do === 'wait') bed.wait(each.at);
          else if (each.do === 'repair') {
            const before = bed.ledger.rules?.['hang'];
            const isGranted = bed.repair(`m-${each.at}`, digest).startsWith('g-');
            const entry = bed.ledger.rules?.['hang'];
            const inWork = Object.values(bed.ledger.grants).filter(({ state }) => state !== 'Settled').length;
            const limits = [1, 5, 20, 100];
            const isProven = entry?.proven.includes(digest) ?? false;
            if (isGranted && !isProven)
              expect(inWork).toBeLessThanOrEqual(limits[(entry?.wave ?? 1) - 1] ?? 0);
            if (before && before.digest === digest) expect(entry?.wave).toBeGreaterThanOrEqual(before.wave);
          } else {
            const open = Object.values(bed.ledger.grants).filter(({ state }) => state !== 'Settled');
            const chosen = open[each.at % Math.max(1, open.length)];
            if (chosen) bed.settle(chosen.id, each.good ? 'Succeeded' : 'Failed');
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  it('R10 gives one machine to replicas that ask at the same time, and goes on after each write that failed', async () => {
    for (const arrives of [false, true]) {
      // oxlint-disable no-await-in-loop -- one bed after the other
      const bed = await ledgerBed([policy({ ruleWaves: TERMS })]);
      const failing = await bed.replica({ failures: [{ code: 'Timeout', arrives }], leads: true });
      const replicas = [failing, await bed.replica(), await bed.replica()];
      const answers = await Promise.all(
        replicas.map(({ ledger }, index) =>
          ledger.ask([ask({ machine: `m-${index + 1}`, ruleDigest: 'a', factsAt: bed.clock.now() })]),
        ),
      );
      expect(answers.flat().filter(({ granted }) => granted)).toHaveLength(1);
      const [machine = ''] = Object.keys(bed.spec().grants);
      const grant = bed.spec().grants[machine];
      await failing.ledger.settle([{ id: grant?.id ?? '', fence: grant?.fence ?? 0, outcome: 'Failed' }]);
      await failing.ledger.settle([{ id: grant?.id ?? '', fence: grant?.fence ?? 0, outcome: 'Failed' }]);
      const [again] = await replicas[1]!.ledger.ask([
        ask({ machine: 'm-9', ruleDigest: 'a', factsAt: bed.clock.now() }),
      ]);
      expect(again).toMatchObject({ granted: false, reason: 'RuleWave' });
      // oxlint-enable no-await-in-loop
    }
  });

  it('gives the place of a rule that was deleted long ago to a new one, and never that of one that exists', () => {
    const names = Array.from({ length: 256 }, (_, index) => `rule-${index}`);
    const at = (days: number) => new Date(+NOW - days * 86_400_000).toISOString();
    const full = Object.fromEntries(names.map((name) => [name, ledgerRule({ heardAt: at(29) })]));
    expect(roomFor(full, 'new', NOW)).toBeUndefined();
    expect(roomFor(full, 'rule-7', NOW)).toEqual({});
    const spare = {
      ...full,
      'rule-3': ledgerRule({ heardAt: at(30) }),
      'rule-4': ledgerRule({ heardAt: at(40) }),
    };
    expect(roomFor(spare, 'new', NOW)).toEqual({ instead: 'rule-4' });
    const bed = new WaveBed();
    bed.ledger = { ...bed.ledger, rules: full };
    expect(bed.repair('m-1', 'a')).toBe('LedgerFull: rule hang: rules of the ledger: 256 of 256 entries');
  });
});
