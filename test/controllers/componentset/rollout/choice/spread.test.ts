import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Amount } from '../../../../../src/api/generated/types.ts';
import type { MemberState } from '../../../../../src/controllers/componentset/machine/member-state.ts';
import { planRollout } from '../../../../../src/controllers/componentset/plan.ts';
import {
  spreadUse,
  spreadWait,
  withStarted,
} from '../../../../../src/controllers/componentset/rollout/choice/spread.ts';
import { node } from '../../../../support/builders.ts';
import { RolloutSimulation } from '../../simulation/rollout-simulation.ts';
import { COMPLETED, inputOf, member, NEW, OLD, progressOf, type StateParts } from '../rollout-input.ts';

const SPREAD = { labelKey: 'rack', max: 1 };
const IN_WORK = { at: NEW, batch: 0, step: 'InWork', holdsGrant: true } as const;

function inRack(name: string, rack: string, parts: StateParts = {}): MemberState {
  return member(name, { labels: { rack }, ...parts });
}

/** Why c, which is in rack r1, may not start while this machine is in work. */
function waitOf(other: MemberState, max: Amount = 1): string | undefined {
  const waiting = inRack('c', 'r1');
  const use = spreadUse(inputOf({ members: [other, waiting], rollout: { spread: { ...SPREAD, max } } }));
  return use && spreadWait(use, waiting)?.because;
}

const FULL = 'c: machines with rack=r1 in work: 1 (a), allowed: 1';

describe('spreadWait', () => {
  it.each<[what: string, other: MemberState, expected: string | undefined]>([
    ['waits for one of its rack in work', inRack('a', 'r1', IN_WORK), FULL],
    ['waits for one that failed and has its grant', inRack('a', 'r1', { ...IN_WORK, step: 'Failed' }), FULL],
    ['waits for one whose agent is silent', inRack('a', 'r1', { ...IN_WORK, step: 'Unknown' }), FULL],
    ['waits for none of another rack', inRack('a', 'r2', IN_WORK), undefined],
    ['waits for none without the label', member('a', IN_WORK), undefined],
    ['waits for none that is done', inRack('a', 'r1', { ...IN_WORK, step: 'Settled' }), undefined],
    ['waits for none that never served', inRack('a', 'r1', { ...IN_WORK, isEstablished: false }), undefined],
    [
      'reads the label of the Node',
      { ...member('a', IN_WORK), node: node('a', 'True', { labels: { rack: 'r1' } }) },
      FULL,
    ],
  ])('ROL-04 limits the machines in work of one domain: %s', (_, other, expected) => {
    expect(waitOf(other)).toBe(expected);
  });

  it('ROL-04 takes a percentage of all machines, and at least one', () => {
    expect(waitOf(inRack('a', 'r1', IN_WORK), '10%')).toBe(FULL);
    expect(waitOf(inRack('a', 'r1', IN_WORK), '100%')).toBeUndefined();
  });

  it('ROL-04 counts machines without the label as one domain, because nothing tells them apart', () => {
    const members = [member('a', IN_WORK), member('b')];
    const use = spreadUse(inputOf({ members, rollout: { spread: SPREAD } }));
    expect(use && spreadWait(use, member('b'))).toMatchObject({
      reason: 'SpreadLimit',
      because: 'b: machines without label rack in work: 1 (a), allowed: 1',
      blocker: { kind: 'Machine', name: 'a' },
    });
  });

  it('ROL-04 counts machines that left the set in the middle of their update, and those that start now', () => {
    const left = [inRack('a', 'r1', IN_WORK)];
    const use = spreadUse(inputOf({ members: [], left, rollout: { spread: SPREAD } }));
    expect(use && spreadWait(use, inRack('c', 'r1'))?.because).toBe(FULL);
    const empty = spreadUse(inputOf({ members: [inRack('a', 'r1')], rollout: { spread: SPREAD } }));
    const { actions } = planRollout(inputOf({ members: [inRack('a', 'r1')], progress: progressOf({}) }));
    const after = withStarted(empty, actions);
    expect(after && spreadWait(after, inRack('c', 'r1'))?.because).toBe(FULL);
  });

  it('ROL-04 lets a machine that is in work itself start again: it takes the place of no other', () => {
    const failed = inRack('a', 'r1', { ...IN_WORK, step: 'Failed' });
    const use = spreadUse(inputOf({ members: [failed], rollout: { spread: SPREAD } }));
    expect(use && spreadWait(use, failed)).toBeUndefined();
  });
});

function started(parts: Parameters<typeof inputOf>[0], rollout: object = {}): string {
  const input = inputOf({
    progress: { updateRevision: NEW.name, history: [COMPLETED] },
    rollout: { spread: SPREAD, batches: [9], maxUnavailable: 9, ...rollout },
    ...parts,
  });
  const { actions, limit } = planRollout(input);
  const names = actions.flatMap((action) => (action.type === 'Assign' ? [action.member.name] : []));
  return `${names.toSorted().join(' ') || '-'}, ${limit.reason}`;
}

function byName(a = '', b = ''): number {
  return a < b ? -1 : 1;
}

describe('planRollout with a spread', () => {
  const racks = ['r1', 'r1', 'r2', 'r2', 'r3'].map((rack, index) => inRack(`m-${index}`, rack));

  it('ROL-04 fills a batch over the domains, and names what the next machine of a domain waits for', () => {
    const input = inputOf({
      members: racks,
      progress: { updateRevision: NEW.name, history: [COMPLETED] },
      rollout: { spread: SPREAD, batches: [3], maxUnavailable: 9 },
    });
    const plan = planRollout(input);
    const found = plan.actions.flatMap((action) =>
      action.type === 'Assign' ? [action.member.machine.metadata.labels?.['rack']] : [],
    );
    expect(found.toSorted(byName)).toEqual(['r1', 'r2', 'r3']);
    expect(plan.limit.reason).toBe('BatchFull');
    const more = planRollout({ ...input, set: inputOf({ rollout: { spread: SPREAD, batches: [4] } }).set });
    expect(more.limit.reason).toBe('SpreadLimit');
    expect([...more.waiting.values()].map(({ reason }) => reason)).toEqual(['SpreadLimit', 'SpreadLimit']);
  });

  it('ROL-04 gives each machine that waits the reason of its own domain', () => {
    const members = [
      inRack('a', 'r1', IN_WORK),
      inRack('b', 'r2', IN_WORK),
      inRack('c', 'r1'),
      inRack('d', 'r2'),
    ];
    const progress = progressOf({ batch: { index: 0, size: 4, total: 4, startedAt: new Date(0) } });
    const { waiting } = planRollout(inputOf({ members, progress, rollout: { spread: SPREAD } }));
    expect(waiting.get('c')?.because).toBe(FULL);
    expect(waiting.get('d')?.because).toBe('d: machines with rack=r2 in work: 1 (b), allowed: 1');
  });

  it('ROL-04 does not hold a revert, nor a new machine', () => {
    const back = {
      members: [inRack('a', 'r1', { at: NEW }), inRack('b', 'r1', { at: NEW })],
      progress: {
        updateRevision: OLD.name,
        history: [{ revision: NEW.name, result: 'Superseded' }, COMPLETED],
      },
      desired: { revision: OLD, yanked: [] },
    } as const;
    expect(started(back)).toBe('a b, BatchFull');
    const fresh = ['a', 'b'].map((name) =>
      inRack(name, 'r1', { at: 'None', isEstablished: false, serves: false }),
    );
    expect(started({ members: fresh })).toMatch(/^a b, /);
  });

  it('ROL-04 holds machines that return after the end, one of a domain after the other', () => {
    const done = {
      updateRevision: NEW.name,
      history: [{ revision: NEW.name, result: 'Completed' }, COMPLETED],
    } as const;
    expect(started({ members: [inRack('a', 'r1'), inRack('b', 'r1')], progress: done, stable: NEW })).toBe(
      'a, SpreadLimit',
    );
  });

  it('ROL-04 lets a machine with a revision that was rolled back return whatever its domain does', () => {
    const bad = { revision: NEW.name, result: 'RolledBack' } as const;
    const done = { updateRevision: OLD.name, history: [COMPLETED, bad] } as const;
    const members = [inRack('a', 'r1', { step: 'Failed', holdsGrant: true }), inRack('b', 'r1', { at: NEW })];
    expect(started({ members, progress: done, desired: { revision: OLD, yanked: [] } })).toBe('b, AllDone');
  });

  it('ROL-04 holds a restart while another machine of the domain is in work', () => {
    const asking = inRack('b', 'r1', { at: NEW, batch: 0, step: 'NeedsGrant', reason: 'GrantNeeded' });
    const permitted = (other: MemberState): number =>
      planRollout(
        inputOf({ members: [other, asking], progress: progressOf(), rollout: { spread: SPREAD } }),
      ).actions.filter((action) => action.type === 'Permit' && action.member.name === 'b').length;
    expect(permitted(inRack('a', 'r1', IN_WORK))).toBe(0);
    expect(permitted(inRack('a', 'r2', IN_WORK))).toBe(1);
  });
});

const NO_SOAK = { soakSeconds: 0, checks: [], approval: 'None' } as const;

interface Racks {
  readonly racks: readonly number[];
  readonly max: Amount;
  readonly batches: readonly number[];
  readonly failing: number;
}

/** Whether a rack has too many in work is checked at each write of the simulation. */
function rolledOut(
  { racks, max, batches, failing }: Racks,
  crash?: { at: number; when: 'Before' | 'After' },
) {
  const failure = { maxFailed: '100%', per: 'Rollout', onFailure: 'Pause' } as const;
  const rollout = {
    batches,
    spread: { labelKey: 'rack', max },
    maxUnavailable: '100%' as Amount,
    gate: NO_SOAK,
    failure,
  };
  const sim = new RolloutSimulation({
    machines: racks.length,
    installed: '1',
    rollout,
    ...(crash && { crash }),
  });
  for (const [index, rack] of racks.entries()) {
    sim.machine(`m-${index + 1}`).labels = rack === 0 ? {} : { rack: `r${rack}` };
  }
  sim.behaviorOf = (ref, machine) => (ref === 'app-2' && machine === `m-${failing}` ? 'Fails' : 'Good');
  sim.version('2');
  sim.run(300 * racks.length + 600);
  return sim;
}

describe('a rollout with a spread', () => {
  it('ROL-04 never has more machines of a domain in work, and always ends, whatever the racks', () => {
    const scenario = fc.record({
      racks: fc.array(fc.nat(3), { minLength: 1, maxLength: 8 }),
      max: fc.constantFrom<Amount[]>(1, 2, '25%'),
      batches: fc.constantFrom<number[][]>([1], [1, 3], [8], [2, 8]),
      failing: fc.nat(8),
    });
    fc.assert(
      fc.property(scenario, (parts) => {
        const failed = parts.failing >= 1 && parts.failing <= parts.racks.length ? 1 : 0;
        const moved = parts.racks.length - failed;
        const sim = rolledOut(parts);
        const counts = [failed > 0 ? '1 run app-1' : '', moved > 0 ? `${moved} run app-2` : ''].filter(
          Boolean,
        );
        // A first batch that proves nothing stops the rollout.
        if (sim.lines.some((line) => line.includes('BatchUnproven'))) return;
        expect(sim.summary()).toBe(`${counts.join(', ')}; grants in work: 0`);
      }),
      { numRuns: 60 },
    );
  });

  it('ROL-04 ends the same after a crash before or after each write', () => {
    const parts = { racks: [1, 1, 2, 2], max: 1, batches: [4], failing: 0 };
    const { writes } = rolledOut(parts);
    for (let at = 1; at <= writes; at += 1) {
      for (const when of ['Before', 'After'] as const) {
        expect(`${at} ${when}: ${rolledOut(parts, { at, when }).summary()}`).toBe(
          `${at} ${when}: 4 run app-2; grants in work: 0`,
        );
      }
    }
  });
});
