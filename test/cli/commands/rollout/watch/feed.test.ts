import { expect, it } from 'vitest';
import { trimMachine } from '../../../../../src/cli/commands/rollout/watch/feed.ts';
import { machineInWork } from '../../../../../src/views/rollout/view.ts';
import { DESIRED, machine } from '../../../../support/builders.ts';
import { STORIES } from '../stories.ts';

const assignment = { set: 'general-nodes', revision: 'r-5d41402a', batch: 1 };
const OWN = { ...DESIRED, state: 'Present', parameters: {}, assignment } as const;
const OTHER = { ...OWN, name: 'shell', componentRef: 'shell-1', assignment: { ...assignment, set: 'other' } };

it('keeps of a machine what the view shows, and not the rest', () => {
  const found = machine('m-1', {
    metadata: { resourceVersion: '7', labels: { pool: 'general' } },
    spec: { components: [OWN, OTHER] },
    status: {
      components: [
        { name: 'kubelet', state: 'Activating' },
        { name: 'shell', state: 'Failed' },
      ],
    },
  });
  const trimmed = trimMachine(found, 'general-nodes');
  const set = STORIES['a batch in work'];
  expect(machineInWork(trimmed, set)).toEqual(machineInWork(found, set));
  expect(trimmed.spec.components).toEqual([OWN]);
  expect(trimmed.status?.components).toEqual([{ name: 'kubelet', state: 'Activating' }]);
  expect(JSON.stringify(trimMachine(found, 'none')).length).toBeLessThan(250);
});
