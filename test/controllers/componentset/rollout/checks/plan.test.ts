import { describe, expect, it } from 'vitest';
import type { Check } from '../../../../../src/api/generated/types.ts';
import { planRollout } from '../../../../../src/controllers/componentset/plan.ts';
import { planChecks } from '../../../../../src/controllers/componentset/rollout/checks/plan.ts';
import type { OpenBatch, RolloutMode } from '../../../../../src/controllers/componentset/rollout/input.ts';
import { ago } from '../../../../support/builders.ts';
import { ROLLOUT } from '../../component-set.ts';
import { DIFFERS } from '../../status/situations.ts';
import {
  askingCheck,
  BATCH,
  type InputParts,
  inputOf,
  member,
  NEW,
  OLD,
  progressOf,
} from '../rollout-input.ts';

const DONE = { at: NEW, batch: 1 } as const;
const SOAKING = { ...BATCH, settledAt: new Date(ago(60)), soakUntil: new Date(ago(-240)) };
const COMPARISON = askingCheck('ratio', { promql: { query: 'a{n=~"${batch}"} / a{n=~"${rest}"}', max: 2 } });
const ERRORS = askingCheck('errors');
const HEALTH: Check = { ...askingCheck('health'), builtin: {} };

function planned(
  parts: InputParts,
  checks: readonly Check[] = [ERRORS],
  mode: RolloutMode = 'Forward',
): string {
  const gate = { ...ROLLOUT.gate, checks: [...checks] };
  const input = inputOf({
    members: [member('a', DONE), member('b', DONE), member('c'), member('d')],
    progress: progressOf({ batch: SOAKING }),
    ...parts,
    rollout: { gate },
  });
  const { due, machines, nextAt } = planChecks(input, mode, input.progress);
  const seconds = nextAt && (+nextAt - +input.now) / 1000;
  const names = due.map(({ check }) => check.name).join(' ');
  return `${names}; next ${seconds}; ${machines.batch.join(' ')} | ${machines.rest.join(' ')}`;
}

const NOTHING = '; next undefined;  | ';

describe('planChecks', () => {
  it('ROL-22 runs each check at once, and then at its interval, but for builtin ones', () => {
    const gates = [{ name: 'errors', result: 'Passed', ranAt: ago(20) }] as const;
    expect(planned({}, [HEALTH, ERRORS, COMPARISON])).toBe('errors ratio; next undefined; a b | c d');
    const progress = progressOf({ batch: { ...SOAKING, gates } });
    expect(planned({ progress }, [ERRORS, COMPARISON])).toBe('ratio; next 10; a b | c d');
    expect(planned({ progress })).toBe('; next 10; a b | c d');
  });

  it.each<[what: string, parts: InputParts, mode?: RolloutMode]>([
    ['no batch is open', { progress: progressOf({ history: [] }), members: [] }, 'Steady'],
    ['the batch is not settled', { progress: progressOf() }],
    [
      'the rollout has stopped',
      { progress: progressOf({ batch: SOAKING, stopped: { reason: 'x', because: '' } }) },
    ],
    ['the set is paused', { paused: true }],
    ['the revision goes back', {}, 'RollingBack'],
    ['the revision is a revert', {}, 'Revert'],
  ])('ROL-22 runs no check while %s', (_what, parts, mode) => {
    expect(planned(parts, [ERRORS], mode)).toBe(NOTHING);
  });

  it('ROL-22 names the machines of the batch, whatever became of them, and those of no other one', () => {
    const members = [
      member('z', DONE),
      member('a', { ...DONE, step: 'Failed' }),
      member('b', { ...DONE, batch: 0 }),
      member('x', DIFFERS),
    ];
    expect(planned({ members, left: [member('l', DONE)] })).toBe('errors; next undefined; a l z | ');
  });

  it('ROL-22 compares with machines that serve and do not have the version, without pins', () => {
    const members = [
      member('a', DONE),
      member('held', { hold: { reason: 'x', scope: 'All' } }),
      member('down', { serves: false }),
      member('pinned', { pinned: ['app'] }),
      member('new', { at: 'None', serves: true }),
    ];
    expect(planned({ members })).toBe('errors; next undefined; a | held new');
  });

  it('ROL-22 compares with at most 100 machines, the same ones in any order of the machines', () => {
    const rest = Array.from({ length: 150 }, (_, index) => member(`r-${index}`, { at: OLD }));
    const found = planned({ members: [member('a', DONE), ...rest] });
    expect(found.split('| ')[1]?.split(' ')).toHaveLength(100);
    expect(planned({ members: [...rest.toReversed(), member('a', DONE)] })).toBe(found);
  });

  it.each<[what: string, others: readonly ReturnType<typeof member>[], due: string]>([
    ['it is skipped after the last batch', [member('b', { ...DONE, batch: 0 })], 'errors'],
    ['it has no result where the first batch has all machines', [], 'errors ratio'],
    [
      'it has no result while those that are left are out of service',
      [member('b', { ...DONE, batch: 0 }), member('c', { serves: false })],
      'errors ratio',
    ],
    [
      'a pin is nothing to compare with',
      [member('b', { ...DONE, batch: 0 }), member('c', { pinned: ['app'] })],
      'errors',
    ],
  ])('ROL-22 has a comparison without machines to compare with: %s', (_what, others, due) => {
    const found = planned({ members: [member('a', DONE), ...others] }, [ERRORS, COMPARISON]);
    expect(found).toBe(`${due}; next undefined; a | `);
  });

  it('ROL-22 runs checks in the reconcile in which the batch is settled', () => {
    const gate = { ...ROLLOUT.gate, checks: [ERRORS] };
    const members = [member('a', DONE), member('b', DONE), member('c')];
    const { checks, progress } = planRollout(inputOf({ members, rollout: { gate } }));
    expect(checks.due.map(({ check }) => check.name)).toEqual(['errors']);
    expect(progress.batch?.settledAt).toEqual(inputOf().now);
  });

  it('ROL-22 passes on the last run that is recorded, so that none is repeated from an old view', () => {
    const gates = [{ name: 'errors', result: 'Passed', ranAt: ago(40) }] as const;
    const knownWith = (batch: Partial<OpenBatch>): Date | undefined => {
      const progress = progressOf({ batch: { ...SOAKING, ...batch } });
      const rollout = { gate: { ...ROLLOUT.gate, checks: [ERRORS] } };
      const input = inputOf({ members: [member('a', DONE), member('c')], progress, rollout });
      return planChecks(input, 'Forward', progress).due[0]?.known;
    };
    expect(knownWith({ gates })).toEqual(new Date(ago(40)));
    expect(knownWith({})).toEqual(new Date(+SOAKING.settledAt - 1));
  });

  it('runs no check in a dry run', () => {
    const input = inputOf({
      progress: progressOf({ batch: SOAKING }),
      rollout: { gate: { ...ROLLOUT.gate, checks: [ERRORS] } },
    });
    const set = { ...input.set, spec: { ...input.set.spec, dryRun: true } };
    expect(planRollout({ ...input, set }).checks.due).toEqual([]);
  });
});
