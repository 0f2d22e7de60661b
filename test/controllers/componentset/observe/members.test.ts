import { describe, expect, it } from 'vitest';
import type { MachineComponentEntry } from '../../../../src/api/generated/types.ts';
import { createStateOf } from '../../../../src/controllers/componentset/observe/members.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { ago, condition, machine, NOW, node } from '../../../support/builders.ts';
import { fakeContext } from '../../../support/controller/fake-context.ts';
import { componentSet } from '../component-set.ts';
import { ownEntries } from '../managed-fields.ts';
import { BATCH, NEW, progressOf } from '../rollout/rollout-input.ts';

function sick(): KubeObject {
  const conditions = [
    condition('Ready', 'True'),
    condition('DiskPressure', 'True', { lastTransitionTime: ago(1) }),
  ];
  return { ...node('m-1'), status: { conditions } };
}

/** Whose Lease was renewed just now. */
function stepOf(assignment: NonNullable<MachineComponentEntry['assignment']>): string {
  const [content] = NEW.components;
  const components = content ? [{ ...content, assignment }] : [];
  const { context } = fakeContext({ objects: { Node: [sick()] } });
  const stateOf = createStateOf({
    set: componentSet('general'),
    progress: progressOf(),
    grants: {},
    now: NOW,
    context: { ...context, ageMs: () => 0 },
  });
  const report = {
    name: 'app',
    desiredRef: 'app-2',
    currentRef: 'app-2',
    state: 'Committed',
    running: true,
    ready: true,
  } as const;
  const status = { components: [{ ...report, digest: content?.digest ?? '' }] };
  return stateOf(
    machine('m-1', { metadata: { managedFields: [ownEntries('app')] }, spec: { components }, status }),
  ).step;
}

describe('createStateOf', () => {
  const revision = NEW.name;

  it('ROL-20 patrols the machines of the open batch, and no others', () => {
    expect(stepOf({ set: 'general', revision, batch: BATCH.index })).toBe('Unhealthy');
    expect(stepOf({ set: 'general', revision, batch: 0 })).toBe('Settled');
    expect(stepOf({ set: 'general', revision: 'r-x', batch: BATCH.index })).toBe('Settled');
  });
});
