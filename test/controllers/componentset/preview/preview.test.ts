import { describe, expect, it } from 'vitest';
import { planRollout } from '../../../../src/controllers/componentset/plan.ts';
import {
  previewRollout,
  type RolloutPreview,
} from '../../../../src/controllers/componentset/preview/preview.ts';
import type { RolloutInput } from '../../../../src/controllers/componentset/rollout/input.ts';
import { ago, NOW } from '../../../support/builders.ts';
import { BATCH, COMPLETED, grant, inputOf, member, NEW, progressOf } from '../rollout/rollout-input.ts';
import { RolloutSimulation, type SimulationParts } from '../simulation/rollout-simulation.ts';
import { denied } from '../status/set-report.ts';

const NO_SOAK = { soakSeconds: 30, checks: [], approval: 'None' } as const;
const DAY = 86_400;

/** `0: m-3 m-1`: the batches that machines were given, from the transcript, which counts them from 1. */
function happened({ lines }: RolloutSimulation): readonly string[] {
  const started = lines.flatMap((line) => {
    const [, name, batch] = /(m-\d+) -> app-2 \(batch (\d+)\)/.exec(line) ?? [];
    return name === undefined || batch === undefined ? [] : [{ name, index: Number(batch) - 1 }];
  });
  return [...Map.groupBy(started, ({ index }) => index)].map(
    ([index, members]) => `${index}: ${members.map(({ name }) => name).join(' ')}`,
  );
}

function planned({ batches }: RolloutPreview): readonly string[] {
  return batches.map(({ index, machines }) => `${index}: ${machines.join(' ')}`);
}

/** In the order of the names: machines of a batch may be started in several rounds. */
function asSets(batches: readonly string[]): readonly string[] {
  return batches.map((line) => line.split(' ').toSorted().join(' '));
}

function canary(sim: RolloutSimulation): void {
  for (const name of ['m-2', 'm-5', 'm-7']) sim.machine(name).labels['canary'] = 'true';
}

const QUIET: readonly (SimulationParts & {
  readonly name: string;
  readonly prepare?: (sim: RolloutSimulation) => void;
})[] = [
  { name: 'batches of 1, 5, 10', machines: 30, rollout: { batches: [1, 5, 10], gate: NO_SOAK } },
  {
    name: 'the last batch takes the rest',
    machines: 20,
    rollout: { batches: [1, 5], repeatLast: false, gate: NO_SOAK },
  },
  {
    name: 'percentages',
    machines: 25,
    rollout: { batches: ['10%', '20%', '50%'], maxUnavailable: '100%', gate: NO_SOAK },
  },
  {
    name: 'one machine out of service at a time',
    machines: 9,
    rollout: { batches: [2, 3], maxUnavailable: 1, gate: NO_SOAK },
  },
  {
    name: 'a canary by selector',
    machines: 12,
    rollout: {
      batches: [2, 4],
      gate: NO_SOAK,
      canary: { machineSelector: { all: false, matchLabels: { canary: 'true' } }, count: 2, hold: false },
    },
    prepare: canary,
  },
  {
    name: 'a canary whose selector matches no machine',
    machines: 6,
    rollout: {
      batches: [2],
      gate: NO_SOAK,
      canary: { machineSelector: { all: false, matchLabels: { canary: 'no' } }, count: 2, hold: false },
    },
  },
];

const classOf: RolloutInput['classOf'] = ({ name }) => (name === 'a' ? 'Reboot' : 'Drain');

describe('previewRollout', () => {
  it.each(QUIET)(
    'ROL-60 plans for a quiet cluster what then happens, batch by batch: $name',
    ({ name: _name, prepare, ...parts }) => {
      const sim = new RolloutSimulation({ installed: '1', ...parts });
      prepare?.(sim);
      sim.version('2');
      const preview = previewRollout(sim.input());
      sim.run(DAY);
      expect(asSets(planned(preview))).toEqual(asSets(happened(sim)));
      expect(planned(preview)[0]).toBe(happened(sim)[0]);
      expect(preview.grants).toBe(parts.machines);
      expect(sim.summary()).toBe(`${parts.machines} run app-2; grants in work: 0`);
    },
  );

  it('ROL-60 plans the rest from the middle of a rollout on', () => {
    const sim = new RolloutSimulation({
      machines: 12,
      installed: '1',
      rollout: { batches: [1, 5], maxUnavailable: 2, gate: NO_SOAK },
    });
    sim.version('2');
    sim.run(130);
    const before = happened(sim).join(' ').match(/m-\d+/g) ?? [];
    const preview = previewRollout(sim.input());
    sim.run(DAY);
    const after = happened(sim).join(' ').match(/m-\d+/g)?.slice(before.length).toSorted();
    expect(before.length).toBeGreaterThan(1);
    expect(before.length).toBeLessThan(12);
    expect(preview.batches.flatMap(({ machines }) => machines).toSorted()).toEqual(after);
  });

  it('ROL-60 plans no batch for machines that have the revision since before it came back, but their soak', () => {
    const members = [member('a', { at: NEW, batch: 0 }), member('b', { at: NEW, batch: 1 }), member('c')];
    const rollout = { batches: [1, 2], maxUnavailable: 3, gate: NO_SOAK };
    const startedAt = NOW;
    const progress = { updateRevision: NEW.name, startedAt, history: [COMPLETED] };
    const { batches, grants, endsAt } = previewRollout(inputOf({ members, progress, rollout }));
    expect(batches.map(({ index, machines }) => [index, machines])).toEqual([[1, ['c']]]);
    expect(grants).toBe(1);
    const later = previewRollout(inputOf({ members: members.slice(0, 2), progress, rollout }));
    expect(later.batches).toEqual([]);
    expect(endsAt).toEqual(new Date(+NOW + 120_000 + 30_000));
    expect(later.endsAt).toEqual(new Date(+NOW + 30_000));
  });

  it('ROL-60 takes the same decisions with dryRun, which starts nothing', () => {
    const members = [member('a'), member('b'), member('c')];
    const input = inputOf({ members, progress: { history: [COMPLETED] } });
    const dry: RolloutInput = { ...input, set: { ...input.set, spec: { ...input.set.spec, dryRun: true } } };
    expect(previewRollout(dry)).toEqual(previewRollout(input));
    expect(planRollout(input).actions).not.toEqual([]);
    expect(planRollout(dry)).toMatchObject({
      actions: [],
      progress: input.progress,
      limit: { reason: 'DryRun' },
    });
  });

  it('ROL-60 never forgets with dryRun a machine that is in work', () => {
    const members = [member('a', { at: NEW, batch: 1, step: 'Settled', holdsGrant: true, grant: grant() })];
    const input = inputOf({ members });
    const dry: RolloutInput = { ...input, set: { ...input.set, spec: { ...input.set.spec, dryRun: true } } };
    expect(planRollout(dry).actions).toMatchObject([{ type: 'Settle', outcome: 'Succeeded' }]);
  });

  it('ROL-60 has class, drains and grants, and leaves out machines that are held or pinned', () => {
    const members = [
      member('a'),
      member('b', { isEstablished: false }),
      member('c', { hold: { reason: 'mine', scope: 'All' } }),
      member('d', { pinned: ['app'] }),
      member('e', { at: NEW }),
    ];
    const preview = previewRollout(inputOf({ members, classOf, progress: { history: [COMPLETED] } }));
    expect(preview).toMatchObject({ class: 'Reboot', drains: 1, grants: 2, joining: [] });
  });

  it('ROL-40 names new machines outside of the batches', () => {
    const members = [member('a'), member('new', { at: 'None' })];
    const preview = previewRollout(inputOf({ members, progress: { history: [COMPLETED] } }));
    expect([planned(preview), preview.joining, preview.grants]).toEqual([['0: a'], ['new'], 2]);
  });

  it.each([
    ['nothing', {}, undefined, true],
    ['a denial', { denials: [denied('a')] }, 'GrantDenied', false],
    ['a silent agent', { silent: true }, 'AgentSilent', false],
    ['an approval', { approval: 'EveryBatch' }, undefined, false],
  ] as const)('ROL-60 shows what blocks now, and no end while something does: %s', (...row) => {
    const [, parts, reason, hasEnd] = row;
    const denials = 'denials' in parts ? parts.denials : [];
    const approval = 'approval' in parts ? parts.approval : 'None';
    const members = [member('a', { isSilent: 'silent' in parts })];
    const input = inputOf({
      members,
      progress: { history: [COMPLETED] },
      rollout: { gate: { soakSeconds: 300, checks: [], approval } },
    });
    const preview = previewRollout(input, denials);
    expect(preview.wait?.reason).toBe(reason);
    expect(preview.endsAt !== undefined).toBe(hasEnd);
  });

  it.each([
    [
      'a component that is not found',
      { problems: [{ reason: 'ComponentNotFound', because: 'app-3 was not found' }] },
    ],
    ['a revision that was rolled back', undefined],
  ])('ROL-60 has no batch for %s', (_name, problem) => {
    const history = [{ revision: NEW.name, result: 'RolledBack', finishedAt: ago(9) }, COMPLETED] as const;
    const input = inputOf({
      members: [member('a')],
      progress: progressOf({ history }),
      ...(problem ? { desired: problem } : {}),
    });
    const preview = previewRollout(input);
    expect(preview.batches).toEqual([]);
    expect(preview.wait?.reason).toBe(problem ? 'ComponentNotFound' : 'RolledBack');
  });

  it('ROL-60 estimates the end by batches, rounds and soak', () => {
    const members = Array.from({ length: 6 }, (_, index) => member(`m-${index}`));
    const rollout = { batches: [2, 4], maxUnavailable: 2 };
    const preview = previewRollout(inputOf({ members, rollout, progress: { history: [COMPLETED] } }));
    expect(preview.endsAt).toEqual(new Date(+NOW + (120 + 300 + 2 * 120 + 300) * 1000));
    const { machineTimeoutSeconds } = inputOf({ members, rollout }).set.spec.rollout;
    expect(preview.takes).toEqual({
      shortestSeconds: 600,
      longestSeconds: 600 + 3 * machineTimeoutSeconds,
    });
    const revert = progressOf({
      history: [
        { revision: 'r-bad', result: 'RolledBack', finishedAt: ago(1) },
        { ...COMPLETED, revision: NEW.name },
      ],
      batch: { ...BATCH, index: 0, size: 6, total: 6 },
    });
    expect(previewRollout(inputOf({ members, rollout, progress: revert })).endsAt).toEqual(
      new Date(+NOW + 3 * 120_000),
    );
  });
});
