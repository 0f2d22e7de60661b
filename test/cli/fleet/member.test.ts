import { describe, expect, it } from 'vitest';
import { readMember } from '../../../src/cli/fleet/member.ts';
import { componentSet } from '../../controllers/componentset/component-set.ts';
import { ownEntries } from '../../controllers/componentset/managed-fields.ts';
import { grant } from '../../controllers/componentset/rollout/rollout-input.ts';
import { ago, condition, machine, NOW, node } from '../../support/builders.ts';

const REPAIR = grant({ holder: { kind: 'RemedyOperationJob', name: 'repair' }, action: 'Reboot' });
const SET = componentSet('general');

function member(agent: 'True' | 'Unknown', since = 120): ReturnType<typeof readMember> {
  const conditions = [condition('AgentReady', agent, { lastTransitionTime: ago(since) })];
  const read = machine('m-1', {
    metadata: { managedFields: [ownEntries('kubelet')] },
    status: { conditions },
  });
  return readMember({ machine: read, node: node('m-1'), grant: REPAIR }, SET, NOW);
}

describe('readMember', () => {
  it('takes an agent for heard while its condition is True, however long ago that began', () => {
    expect(member('True', 86_400).isSilent).toBe(false);
  });

  it('takes an agent for silent since its condition changed, and its machine for out of service', () => {
    expect(member('Unknown')).toMatchObject({ isSilent: true, unavailable: 'its agent is silent' });
  });

  it('has what the Node shows and what the ledger holds for the machine', () => {
    expect(member('True')).toMatchObject({ name: 'm-1', readiness: 'Ready', grant: { id: 'g-1' } });
  });
});
