import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../src/api/generated/types.ts';
import { type ActRules, createActRules } from '../../../../src/sim/machines/judge/act-rules.ts';
import { VIEW_DELAY_MS } from '../../../../src/sim/machines/judge/recent.ts';
import type { SetTruth } from '../../../../src/sim/machines/judge/set-truth.ts';
import { machine } from '../../../support/builders.ts';
import { machineSet } from '../../../support/machine-sets.ts';

interface RuleCase {
  /** Machines that are left, those that are being deleted, and the replicas that are asked for. */
  readonly live: number;
  readonly leaving?: number;
  readonly replicas: number;
  readonly paused?: boolean;
  readonly granted?: boolean;
  readonly byPerson?: boolean;
  readonly stormMs?: number;
  readonly ageSeconds?: number;
  readonly held?: boolean;
  /** The machines that jobs have created before others are deleted. */
  readonly surge?: number;
  /** The machine that is deleted was marked by a job. */
  readonly replaced?: 'Ill' | 'Returned';
}

const NOW_MS = Date.parse('2030-01-01T12:00:00Z');

function some(count: number): readonly Machine[] {
  return Array.from({ length: count }, (_, index) => machine(`m-${index}`));
}

function rulesOf(input: RuleCase): ActRules {
  const { live, leaving = 0, granted = true, stormMs } = input;
  let nowMs = NOW_MS - 2 * VIEW_DELAY_MS;
  const truth: SetTruth = {
    live: () => some(live),
    members: () => some(live + leaving),
    machineOf: () => undefined,
    grantOf: () => undefined,
    isGranted: () => granted,
  };
  const storms = { sinceMs: () => (stormMs === undefined ? undefined : NOW_MS - stormMs) };
  const replacements = {
    surge: () => input.surge ?? 0,
    isReplaced: () => input.replaced !== undefined,
    hasReturned: () => input.replaced === 'Returned',
  };
  const rules = createActRules({ truth, storms, replacements, nowMs: () => nowMs });
  rules.desired(machineSet(input.replicas, { spec: { paused: input.paused ?? false } }).spec);
  nowMs = NOW_MS;
  if (input.byPerson) rules.deletedByPerson();
  return rules;
}

function judged({ ageSeconds = 60, held, ...input }: RuleCase): readonly string[] {
  const creationTimestamp = new Date(NOW_MS - ageSeconds * 1000).toISOString();
  const hold = { reason: 'debugging', scope: 'All' } as const;
  const one = machine('m', { metadata: { creationTimestamp }, spec: held ? { hold } : {} });
  return rulesOf(input).deletionReasons(one);
}

describe('createActRules', () => {
  it.each<[name: string, input: RuleCase, reasons: readonly string[]]>([
    ['up to the replicas', { live: 3, replicas: 3 }, []],
    ['one above the replicas', { live: 4, replicas: 3 }, ['machine 4 of 3']],
    [
      'one above the replicas, in the place of one that a job replaces',
      { live: 4, replicas: 3, surge: 1 },
      [],
    ],
    ['while two are being deleted', { live: 3, leaving: 2, replicas: 3 }, []],
    ['while three are being deleted', { live: 3, leaving: 3, replicas: 3 }, ['6 machines, and 5 allowed']],
    [
      'while the set is paused',
      { live: 3, replicas: 3, paused: true },
      ['a machine was created while the set is paused'],
    ],
    [
      'in a storm',
      { live: 3, replicas: 3, stormMs: VIEW_DELAY_MS + 1 },
      ['a machine was created in a storm'],
    ],
    ['in a storm that no view shows yet', { live: 3, replicas: 3, stormMs: VIEW_DELAY_MS }, []],
  ])('judges a creation %s', (_, input, reasons) => {
    expect(rulesOf(input).creationReasons()).toEqual(reasons);
  });

  const noSurplus = 'a machine was deleted though it was not a surplus';
  it.each<[name: string, input: RuleCase, reasons: readonly string[]]>([
    ['of a surplus', { live: 3, replicas: 3 }, []],
    ['of one that is needed', { live: 2, replicas: 3 }, [noSurplus]],
    ['of one that did not start', { live: 2, replicas: 3, ageSeconds: 600 }, []],
    ['right after a person deleted another one', { live: 2, replicas: 3, byPerson: true }, []],
    ['of one that a job replaces', { live: 2, replicas: 3, replaced: 'Ill' }, []],
    [
      'of one that came back after a job had marked it',
      { live: 3, replicas: 3, replaced: 'Returned' },
      ['a machine that came back was replaced'],
    ],
    ['without a grant', { live: 3, replicas: 3, granted: false }, ['a machine was deleted without a grant']],
    ['of a held machine', { live: 3, replicas: 3, held: true }, ['a held machine was deleted']],
    [
      'in a storm',
      { live: 3, replicas: 3, stormMs: VIEW_DELAY_MS + 1 },
      ['a machine was deleted in a storm'],
    ],
  ])('judges a deletion %s', (_, input, reasons) => {
    expect(judged(input)).toEqual(reasons);
  });
});
