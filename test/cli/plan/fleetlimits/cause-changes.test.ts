import { expect, it } from 'vitest';
import type { FleetPolicySpec } from '../../../../src/api/generated/types.ts';
import { causeChanges } from '../../../../src/cli/plan/fleetlimits/cause-changes.ts';

type Held = Pick<FleetPolicySpec, 'commonCause' | 'failedRollouts'>;

const CAUSE = { clusters: 2, withinSeconds: 3600, holdSeconds: 1800, ignored: ['osImage=a'] };
const commonCause = (fields: Partial<typeof CAUSE> = {}): Held => ({ commonCause: { ...CAUSE, ...fields } });
const failed = (max: number, windowSeconds = 3600): Held => ({ failedRollouts: { max, windowSeconds } });

it.each<readonly [string, Held | undefined, Held | undefined, readonly string[]]>([
  ['nothing of what stays', commonCause(), commonCause(), []],
  ['what is held now', undefined, commonCause(), ['Tightened: holds what fails in 2 clusters in 1 h']],
  [
    'what is not held any more',
    commonCause(),
    {},
    ['Loosened: does not hold any more what fails in 2 clusters in 1 h'],
  ],
  [
    'more clusters',
    commonCause(),
    commonCause({ clusters: 3 }),
    ['Loosened: holds what fails in so many clusters: 2 → 3'],
  ],
  [
    'a longer period',
    commonCause(),
    commonCause({ withinSeconds: 7200 }),
    ['Tightened: counts failures within 1 h → 2 h'],
  ],
  [
    'a shorter hold',
    commonCause(),
    commonCause({ holdSeconds: 60 }),
    ['Loosened: holds a cause for 30 min → 60 s'],
  ],
  [
    'causes that are ruled out, or not any more',
    commonCause(),
    commonCause({ ignored: ['osImage=b'] }),
    ['Loosened: never holds osImage=b', 'Tightened: may hold osImage=a again'],
  ],
  ['a limit of failed rollouts', {}, failed(3), ['Tightened: holds new rollouts after 3 failed in 1 h']],
  [
    'more failed rollouts in a shorter time',
    failed(3),
    failed(5, 60),
    [
      'Loosened: failed rollouts before none begins: 3 → 5',
      'Loosened: counts failed rollouts within 1 h → 60 s',
    ],
  ],
])('shows %s', (_, before, after, expected) => {
  expect(causeChanges(before, after).map(({ effect, text }) => `${effect}: ${text}`)).toEqual(expected);
});
