import { describe, expect, it } from 'vitest';
import type { DefenderPolicy } from '../../../../src/api/generated/types.ts';
import {
  killSwitchPolicy,
  stillStopping,
  stoppedAlready,
} from '../../../../src/cli/commands/defender/stop.ts';
import { ago, decideScene, explain, NOW, policy } from '../../../defender/builders.ts';

function stopped(scope: 'All' | 'Rollout'): DefenderPolicy {
  const { metadata, spec } = killSwitchPolicy({ by: 'alice', reason: 'bad image', scope });
  return policy({ rates: [], concurrency: [], ...spec }, metadata.name);
}

describe('defender stop', () => {
  it('R25 denies by its kill switch, and by nothing else', () => {
    const all = decideScene({ policies: [policy(), stopped('All')] });
    expect(explain(all)).toBe('KillSwitch [kill-switch]: kill switch engaged by alice: bad image');
    expect(explain(decideScene({ policies: [policy(), stopped('Rollout')] }))).toBe('granted');
  });

  it('R25 counts as stopped in git only what has not ended', () => {
    const killSwitch = { engaged: true, scope: 'All', by: 'ann', reason: 'x' } as const;
    const policies = [
      policy({}, 'open'),
      policy({ killSwitch }, 'engaged'),
      policy({ killSwitch: { ...killSwitch, until: ago(1) } }, 'ended'),
      policy({ killSwitch: { ...killSwitch, until: ago(-1) } }, 'until'),
      stopped('All'),
    ];
    expect(stillStopping(policies, NOW)).toEqual(['engaged', 'until']);
  });

  it.each([
    ['All', 'All', 'automation is stopped already'],
    ['All', 'Rollout', 'automation is stopped already'],
    ['Rollout', 'All', 'only rollouts are stopped, and repairs continue'],
    ['Remedy', 'All', 'only repairs are stopped, and rollouts continue'],
    ['Remedy', 'Rollout', 'only repairs are stopped, and rollouts continue'],
  ] as const)('R25 tells when a stop of %s is less than what is asked for, %s', (present, asked, message) => {
    expect(stoppedAlready(present, asked)).toBe(message);
  });

  it('applies to everything, in a mode that adds no limit', () => {
    expect(killSwitchPolicy({ by: 'alice', reason: 'x', scope: 'All' })).toMatchObject({
      metadata: { name: 'kill-switch' },
      spec: { mode: 'Audit', scope: { nodeSelector: { all: true } } },
    });
  });
});
