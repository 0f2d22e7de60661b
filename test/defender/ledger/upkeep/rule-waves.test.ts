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
  /** Rules that were deleted. Undefined: rules are not observed. */
  deleted: ReadonlySet<string> | undefined = new Set();

  run(...requests: readonly LedgerRequest[]): readonly LedgerAnswer[] {
    const policies = [policy({ ruleWaves: this.waves })];
    const now = new Date(+NOW + this.seconds * 1000);
    const { deleted } = this;
    const modeOfRule = (rule: string) => (deleted?.has(rule) ? 'Absent' : 'Enforce');
    const facts = fleetFacts(FLEET, policies, deleted ? { modeOfRule } : {});
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

function daysAgo(days: number): string {
  return new Date(+NOW - days * 86_400_000).toISOString();
}

type Step = readonly ['repair' | 'heal' | 'fail' | 'change' | 'wait', number];

/** Plays one step. Returns what it breaks. */
function play(run: { readonly bed: WaveBed; digest: string }, [what, at]: Step): readonly string[] {
  const { bed } = run;
  if (what === 'wait') bed.wait(at * 200);
  else if (what === 'change') {
    run.digest = `d-${at % 4}`;
    bed.announce(run.digest);
  } else if (what === 'repair') return repairsBeyond(bed, `m-${at + 1}`, run.digest);
  else {
    const open = openGrants(bed);
    const chosen = open[at % Math.max(1, open.length)];
    if (chosen) bed.settle(chosen.id, what === 'heal' ? 'Succeeded' : 'Failed');
  }
  return [];
}

function openGrants({ ledger }: WaveBed): readonly { readonly id: string }[] {
  return Object.values(ledger.grants).filter(({ state }) => state !== 'Settled');
}

function repairsBeyond(bed: WaveBed, machine: string, digest: string): readonly string[] {
  if (!bed.repair(machine, digest).startsWith('g-')) return [];
  const { proven, wave } = bed.ledger.rules?.['hang'] ?? ledgerRule();
  const limit = [1, 5, 20, 100].at(wave - 1) ?? 0;
  const inWork = openGrants(bed).length;
  return proven.includes(digest) || inWork <= limit ? [] : [`${inWork} machines in work in wave ${wave}`];
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

  it('R10 forgets a rule a day after it was deleted, and not while something of it is in work', () => {
    const bed = new WaveBed();
    bed.announce('a');
    bed.announce('x', 'other');
    bed.wait(86_400);
    bed.announce('x', 'other');
    expect(Object.keys(bed.ledger.rules ?? {})).toEqual(['hang', 'other']);
    const id = bed.repair('m-1', 'a');
    bed.deleted = new Set(['hang', 'other']);
    bed.wait(86_399);
    expect(Object.keys(bed.ledger.rules ?? {})).toEqual(['hang', 'other']);
    bed.settle(id, 'Failed');
    bed.wait(1);
    expect(Object.keys(bed.ledger.rules ?? {})).toEqual(['hang']);
    bed.wait(1800);
    expect(bed.ledger.rules).toEqual({});
  });

  it('R10 keeps a rule of which it is not known whether it exists, and one that exists and was not announced', () => {
    const bed = new WaveBed();
    bed.announce('a');
    bed.wait(90 * 86_400);
    bed.deleted = undefined;
    bed.wait(90 * 86_400);
    expect(Object.keys(bed.ledger.rules ?? {})).toEqual(['hang']);
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
    const step = fc.tuple(
      fc.constantFrom<Step[0]>('repair', 'repair', 'heal', 'fail', 'change', 'wait'),
      fc.nat(11),
    );
    const broken = (steps: readonly Step[]): readonly string[] => {
      const run = { bed: new WaveBed(), digest: 'd-0' };
      return steps.flatMap((each) => play(run, each));
    };
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        expect(broken(steps)).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  it.each([false, true])(
    'R10 gives one machine to replicas that ask at the same time, and goes on after a write that failed (arrived: %s)',
    async (arrives) => {
      const bed = await ledgerBed([policy({ ruleWaves: TERMS })]);
      const failing = await bed.replica({ failures: [{ code: 'Timeout', arrives }], leads: true });
      const [second, third] = [await bed.replica(), await bed.replica()];
      const asked = (machine: string): GrantAsk =>
        ask({ machine, ruleDigest: 'a', factsAt: bed.clock.now() });
      const answers = await Promise.all([
        failing.ledger.ask([asked('m-1')]),
        second.ledger.ask([asked('m-2')]),
        third.ledger.ask([asked('m-3')]),
      ]);
      const granted = answers.flat().filter((answer) => answer.granted);
      expect(granted).toHaveLength(1);
      const settlements = granted.map(({ id, fence }) => ({ id, fence, outcome: 'Failed' as const }));
      await failing.ledger.settle(settlements);
      await third.ledger.settle(settlements);
      expect(await second.ledger.ask([asked('m-9')])).toMatchObject([{ granted: false, reason: 'RuleWave' }]);
    },
  );

  it('gives the place of a rule that was deleted long ago to a new one, and never that of one that exists', () => {
    const names = Array.from({ length: 256 }, (_, index) => `rule-${index}`);
    const full = Object.fromEntries(names.map((name) => [name, ledgerRule({ heardAt: daysAgo(29) })]));
    expect(roomFor(full, 'new', NOW)).toBeUndefined();
    expect(roomFor(full, 'rule-7', NOW)).toEqual({});
    const spare = {
      ...full,
      'rule-3': ledgerRule({ heardAt: daysAgo(30) }),
      'rule-4': ledgerRule({ heardAt: daysAgo(40) }),
    };
    expect(roomFor(spare, 'new', NOW)).toEqual({ instead: 'rule-4' });
    const bed = new WaveBed();
    bed.ledger = { ...bed.ledger, rules: full };
    expect(bed.repair('m-1', 'a')).toBe('LedgerFull: rule hang: rules of the ledger: 256 of 256 entries');
  });
});
