import { describe, expect, it } from 'vitest';
import { badConditionRows, componentRows } from '../../../src/views/machine/components.ts';
import { machine } from '../../support/builders.ts';

const KUBELET = {
  name: 'kubelet',
  componentRef: 'kubelet-1.36.0',
  digest: 'sha256:new',
  state: 'Present',
  parameters: {},
} as const;
const REPORT = {
  name: 'kubelet',
  currentRef: 'kubelet-1.35.4',
  digest: 'sha256:old',
  state: 'Failed',
  since: '2030-01-01T00:00:00Z',
} as const;

describe('componentRows', () => {
  it.each([
    [
      'a component that waits to be updated, with the digest that runs',
      { ...KUBELET, assignment: { set: 'general' } },
      [{ ...REPORT, error: { message: 'exit code 1' } }],
      {
        desired: '1.36.0',
        runs: '1.35.4',
        digest: 'sha256:old',
        state: 'Failed',
        since: REPORT.since,
        because: 'exit code 1; by general',
      },
    ],
    [
      'a component that is not reported yet, with the desired digest',
      KUBELET,
      [],
      { desired: '1.36.0', runs: '-', digest: 'sha256:new', state: 'NotReported', because: 'by pinned' },
    ],
    [
      'a component that is removed',
      { ...KUBELET, state: 'Absent' },
      [REPORT],
      {
        desired: 'Absent',
        runs: '1.35.4',
        digest: 'sha256:old',
        state: 'Failed',
        since: REPORT.since,
        because: 'by pinned',
      },
    ],
  ])('shows %s', (_, entry, components, expected) => {
    const shown = machine('m-1', { spec: { components: [entry] }, status: { components } } as never);
    expect(componentRows(shown)).toEqual([{ name: 'kubelet', ...expected }]);
  });
});

it('shows only the conditions that need attention', () => {
  const condition = {
    reason: 'Why',
    message: 'because',
    lastTransitionTime: '2030-01-01T00:00:00Z',
    observedGeneration: 1,
  };
  const conditions = [
    { ...condition, type: 'Ready', status: 'True' },
    { ...condition, type: 'AgentReady', status: 'False' },
    { ...condition, type: 'Stalled', status: 'False' },
  ];
  expect(badConditionRows(machine('m-1', { status: { conditions } } as never))).toEqual([
    { condition: 'AgentReady=False', reason: 'Why', since: '2030-01-01T00:00:00Z', message: 'because' },
  ]);
});
