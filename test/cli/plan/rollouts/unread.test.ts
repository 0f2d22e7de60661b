import { describe, expect, it } from 'vitest';
import { withUnreadMachines } from '../../../../src/cli/plan/rollouts/unread.ts';
import type { TargetPreview } from '../../../../src/sync/preview/preview.ts';

function target(object: string, parts: Partial<TargetPreview> = {}): TargetPreview {
  const changes = [{ action: 'update', object, details: [] }] as const;
  return { target: 'test', by: 'commits', units: [{ unit: 'web', changes }], ...parts };
}

const SET = 'kubenode.dev/MachineComponentSet general';

describe('withUnreadMachines', () => {
  it('ROL-60 shows why the machines of a changed set are not known', () => {
    const because = 'the hub could not be read';
    const unknown = { state: 'Unknown', because };
    expect(withUnreadMachines(target(SET, { because })).rollouts).toEqual(unknown);
    expect(withUnreadMachines(target(SET)).rollouts).toMatchObject({ state: 'Unknown' });
  });

  it.each([
    ['a cluster that was read', target(SET, { by: 'live' })],
    ['a cluster that is unknown as a whole', target(SET, { by: 'unknown' })],
    ['a change that concerns no machines', target('apps/Deployment web/frontend')],
    ['a target that has its rollouts', target(SET, { rollouts: { state: 'Known', sets: [] } })],
  ])('adds nothing to %s', (_, given) => {
    expect(withUnreadMachines(given)).toBe(given);
  });
});
