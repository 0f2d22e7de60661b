import { describe, expect, it } from 'vitest';
import type { Risk } from '../../../src/api/enums.ts';
import type { GrantAsk } from '../../../src/api/grants.ts';
import { askProblems, isRecoveryStep } from '../../../src/defender/guards/ask-valid.ts';
import { ask, decideScene, explain, secondsAgo } from '../builders.ts';

const UID = '00000000-0000-4000-8000-000000000100';

describe('askProblems', () => {
  it.each<[string, Partial<Record<keyof GrantAsk, unknown>>, string]>([
    ['no machine', { machine: '' }, 'machine is empty'],
    ['an unknown act', { action: 'Explode' }, 'unknown action Explode'],
    ['an unknown risk', { risk: 'Huge' }, 'unknown risk Huge'],
    ['a risk below that of the act', { risk: 'Pod' }, 'risk of Reboot is at least Node'],
    [
      'a deletion as harmless',
      { action: 'DeleteMachine', risk: 'None' },
      'risk of DeleteMachine is at least Machine',
    ],
    [
      'a repair of an instance without a Machine',
      { machine: `instance:${UID}` },
      `Reboot is not for instance:${UID}`,
    ],
    [
      'the deletion of an instance by the name of a Machine',
      { action: 'DeleteInstance', risk: 'Machine' },
      'DeleteInstance is not for m-1',
    ],
    [
      'the deletion of an instance as harmless',
      { action: 'DeleteInstance', risk: 'Node', machine: `instance:${UID}` },
      'risk of DeleteInstance is at least Machine',
    ],
    ['an unknown holder', { holder: { kind: 'Cron', name: 'x' } }, 'unknown holder kind Cron'],
    ['a holder without a name', { holder: { kind: 'Machine', name: '' } }, 'holder has no name'],
    ['no duration', { expectedSeconds: Number.NaN }, 'expectedSeconds must not be negative'],
    ['a repair as recovery', { recovery: true }, 'Reboot takes back no act, so it cannot be a recovery'],
  ])('finds %s', (_, fields, problem) => {
    expect(askProblems(ask(fields as Partial<GrantAsk>))).toEqual([problem]);
  });

  it('finds nothing wrong with a rollback, and with an update of any risk', () => {
    for (const risk of ['None', 'Pod', 'Node'] satisfies Risk[]) {
      expect(askProblems(ask({ action: 'UpdateComponent', risk, recovery: true }))).toEqual([]);
    }
    expect([isRecoveryStep('Uncordon'), isRecoveryStep('Reboot')]).toEqual([true, false]);
  });
});

describe('the age of the facts', () => {
  it.each([
    [60, 'granted'],
    [61, 'AskStale: the facts of the ask are 61 s old; at most 60 s are allowed'],
    [-30, 'granted'],
    [-31, 'AskStale: the facts of the ask are 31 s in the future; compare the clocks'],
  ])('R17 with facts of %i s ago: %s', (seconds, because) => {
    expect(explain(decideScene({ ask: { factsAt: secondsAgo(seconds) } }))).toBe(because);
  });
});
