import { describe, expect, it } from 'vitest';
import type { MachineComponentReport } from '../../../src/api/generated/types.ts';
import { machineInWork, viewRollout } from '../../../src/views/rollout/view.ts';
import { STORIES } from '../../cli/commands/rollout/stories.ts';
import { ago, DESIRED, machine, PREVIOUS } from '../../support/builders.ts';

const SET = STORIES['a batch in work'];

function member(
  report: Partial<MachineComponentReport> | undefined,
  revision = 'r-5d41402a',
  set = 'general-nodes',
) {
  const assignment = { set, revision, batch: 1 };
  const entry = { ...DESIRED, state: 'Present', parameters: {}, assignment } as const;
  const components = report ? [{ name: 'kubelet', desiredRef: DESIRED.componentRef, ...report }] : [];
  return machine('m-1', { spec: { components: [entry] }, status: { components } });
}

describe('machineInWork', () => {
  it.each([
    ['one that settled', member({ state: 'Committed', digest: DESIRED.digest }), undefined],
    ['one of another revision', member({ state: 'Activating' }, 'r-00000001'), undefined],
    ['one of another set', member({ state: 'Activating' }, 'r-5d41402a', 'other'), undefined],
    [
      'one that is committed to the version before',
      member({ state: 'Committed', digest: PREVIOUS.digest }),
      'Committed',
    ],
    ['one whose agent reported nothing', member(undefined), 'NotReported'],
    ['one in work', member({ state: 'Activating' }), 'Activating'],
  ])('%s', (_, found, state) => {
    expect(machineInWork(found, SET)?.state).toBe(state);
  });

  it('gives the reason of the agent, and since when', () => {
    const waiting = { reason: 'PodDisruptionBudget', since: ago(5), message: 'web' };
    const found = machineInWork(member({ state: 'WaitingForDrain', since: ago(9), waiting }), SET);
    expect(found).toEqual({
      name: 'm-1',
      componentRef: 'kubelet-1.34.2',
      state: 'WaitingForDrain',
      since: ago(9),
      because: 'web',
    });
  });
});

describe('viewRollout', () => {
  it('tells a version of one component from another whose name begins alike', () => {
    const { spec, status } = SET;
    const components = [
      { name: 'node', componentRef: 'node-2', state: 'Present', parameters: {} },
      { name: 'node-exporter', componentRef: 'node-exporter-1.8.2', state: 'Absent', parameters: {} },
    ] as const;
    const record = { revision: 'r-00000001', components: ['node-exporter-1.8.2', 'node-1'] };
    const view = viewRollout(
      { ...SET, spec: { ...spec, components }, status: { conditions: [], ...status, history: [record] } },
      [],
    );
    expect(view.changes).toEqual([
      { component: 'node', from: 'node-1', to: 'node-2' },
      { component: 'node-exporter', from: 'node-exporter-1.8.2' },
    ]);
  });
});
