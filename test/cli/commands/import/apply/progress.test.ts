import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../../src/api/generated/types.ts';
import { importSummary } from '../../../../../src/cli/commands/import/apply/presentation.ts';
import {
  importEnd,
  importProgress,
  type MachineProgress,
} from '../../../../../src/cli/commands/import/apply/progress.ts';

const HOST = { name: 'n1', host: 'root@n1:22' };

interface Given {
  readonly conditions?: readonly (readonly [
    type: string,
    status: string,
    reason?: string,
    generation?: number,
  ])[];
  readonly failedAttempt?: string;
}

describe('importProgress', () => {
  it.each<[name: string, given: Given, want: Partial<MachineProgress>]>([
    ['no controller has observed it', {}, { state: 'Importing', reason: 'NotObserved' }],
    [
      'a step',
      {
        conditions: [
          ['Progressing', 'True', 'Bootstrapping'],
          ['AgentInstalled', 'False', 'Installing'],
        ],
      },
      { state: 'Importing', step: 'Bootstrapping', reason: 'Installing' },
    ],
    ['Ready', { conditions: [['Ready', 'True']] }, { state: 'Ready', step: 'Ready' }],
    ['Ready of an older spec', { conditions: [['Ready', 'True', 'Ready', 1]] }, { state: 'Importing' }],
    ['stalled', { conditions: [['Stalled', 'True', 'Late']] }, { state: 'Failed', reason: 'Late' }],
    [
      'a host with another key',
      { conditions: [['HostTrusted', 'False', 'HostKeyMismatch']], failedAttempt: 'a' },
      { state: 'Failed', reason: 'HostKeyMismatch' },
    ],
    [
      'a failure of an older spec',
      { conditions: [['HostTrusted', 'False', 'HostKeyMismatch', 1]], failedAttempt: 'a' },
      { state: 'Importing' },
    ],
    [
      'a step that is retried',
      { conditions: [['HostTrusted', 'False', 'Unreachable']] },
      { state: 'Importing' },
    ],
  ])('%s', (_, given, want) => {
    const { machines } = importProgress([HOST], () => machine(given));
    expect(machines).toEqual([expect.objectContaining({ machine: 'n1', host: 'root@n1:22', ...want })]);
  });

  it('ends when none is being imported any more', () => {
    const ready = machine({ conditions: [['Ready', 'True']] });
    const all = [HOST, { ...HOST, name: 'n2' }, { ...HOST, name: 'n3', refusal: 'it comes from git' }];
    const progress = (n2: Machine | undefined) => importProgress(all, (name) => (name === 'n1' ? ready : n2));
    expect(importEnd(progress(machine({})))).toBeUndefined();
    expect(importEnd(progress(undefined))).toBe('Failed');
    expect(importEnd(importProgress([HOST], () => ready))).toBe('Ready');
    expect(importSummary(progress(machine({})))).toBe('3 machines: 1 Ready, 1 Importing, 1 NotApplied');
  });
});

function machine({ conditions = [], failedAttempt }: Given): Machine {
  const status = {
    conditions: conditions.map(([type, state, reason = type, observedGeneration = 2]) => ({
      type,
      status: state,
      reason,
      message: '',
      observedGeneration,
      lastTransitionTime: '2030-01-01T00:00:00Z',
    })),
    ...(failedAttempt !== undefined && { import: { failedAttempt } }),
  };
  return {
    metadata: { name: 'n1', generation: 2 },
    ...(conditions.length > 0 && { status }),
  } as unknown as Machine;
}
