import { expect, it } from 'vitest';
import type { MachineComponentSet } from '../../../src/api/generated/types.ts';
import { formatHistory } from '../../../src/views/rollout/history.ts';

const NOW = new Date('2030-01-01T12:00:00Z');

function setWith(history: unknown): MachineComponentSet {
  return { metadata: { name: 'general' }, status: { history } } as unknown as MachineComponentSet;
}

it('lists what each revision brought, and what became of it', () => {
  const set = setWith([
    { revision: 'r-3', components: ['web 1.2.0'] },
    { revision: 'r-2', components: ['web 1.1.0'], result: 'RolledBack' },
    {
      revision: 'r-1',
      components: ['web 1.0.0', 'kubelet 1.35.0'],
      result: 'Completed',
      finishedAt: '2030-01-01T11:00:00Z',
    },
  ]);
  expect(formatHistory(set, NOW, 80)).toBe(`
COMPONENTS                  RESULT        ENDED   REVISION
web 1.2.0                   in work       -       r-3
web 1.1.0                   RollingBack   -       r-2
web 1.0.0, kubelet 1.35.0   Completed     60m     r-1
`);
});

it('prints nothing for a set without a history', () => {
  expect(formatHistory(setWith(undefined), NOW, 80)).toBe('');
});
