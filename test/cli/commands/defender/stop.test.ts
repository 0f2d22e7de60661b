import { describe, expect, it } from 'vitest';
import type { DefenderPolicy } from '../../../../src/api/generated/types.ts';
import { killSwitchPolicy } from '../../../../src/cli/commands/defender/stop.ts';
import { decideScene, explain, policy } from '../../../defender/builders.ts';

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

  it('applies to everything, in a mode that adds no limit', () => {
    expect(killSwitchPolicy({ by: 'alice', reason: 'x', scope: 'All' })).toMatchObject({
      metadata: { name: 'kill-switch' },
      spec: { mode: 'Audit', scope: { nodeSelector: { all: true } } },
    });
  });
});
