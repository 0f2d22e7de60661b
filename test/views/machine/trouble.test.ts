import { expect, it } from 'vitest';
import type { Machine } from '../../../src/api/generated/types.ts';
import { machineTrouble } from '../../../src/views/machine/trouble.ts';
import { ago, condition, machine } from '../../support/builders.ts';

const bad = condition('NodeReady', 'Unknown', { reason: 'KubeletSilent' });

it.each<[string, Machine['status'], string | undefined]>([
  ['nothing is wrong', machine('m').status, undefined],
  ['it waits', { conditions: [bad], waiting: { reason: 'Held', since: ago(1) } }, 'Held'],
  ['a good condition is not True', { conditions: [bad] }, 'KubeletSilent'],
  [
    'a bad condition is True',
    { conditions: [bad, condition('Stalled', 'True', { reason: 'Deadline' })] },
    'Deadline',
  ],
  ['a bad condition is False', { conditions: [condition('Stalled', 'False')] }, undefined],
  [
    'drift was corrected',
    { conditions: [condition('DriftDetected', 'True', { reason: 'Corrected' })] },
    undefined,
  ],
  ['drift is open', { conditions: [condition('DriftDetected', 'True', { reason: 'Drifted' })] }, 'Drifted'],
  ['it was not observed', undefined, 'NotObserved'],
])('machineTrouble when %s', (_, status, reason) => {
  const { status: _status, ...rest } = machine('m');
  expect(machineTrouble(status ? { ...rest, status } : rest)?.reason).toBe(reason);
});
