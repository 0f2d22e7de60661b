import { describe, expect, it } from 'vitest';
import { observeRollout } from '../../../../src/controllers/componentset/observe/observe.ts';
import { storedRevision } from '../../../../src/controllers/componentset/revision/stored-revisions.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { machine } from '../../../support/builders.ts';
import { fakeContext } from '../../../support/controller/fake-context.ts';
import { componentSet } from '../component-set.ts';
import { ownEntries } from '../managed-fields.ts';
import { COMPLETED, grant, OLD } from '../rollout/rollout-input.ts';

const APP = { name: 'app', componentRef: 'app-1', state: 'Present', parameters: {} } as const;
const GENERAL = componentSet('general', {
  spec: { components: [APP] },
  status: { conditions: [], history: [COMPLETED] },
});
const RIVAL = componentSet('rival', {
  spec: { components: [APP], machineSelector: { all: false, matchLabels: { both: 'true' } } },
});

function machineWith(name: string, labels: Readonly<Record<string, string>> = {}): KubeObject {
  return machine(name, { metadata: { labels, managedFields: [ownEntries()] }, spec: { components: [] } });
}

function observe(
  objects: Readonly<Record<string, readonly KubeObject[]>>,
): ReturnType<typeof observeRollout> {
  const { context } = fakeContext({ objects: { MachineComponentSet: [GENERAL, RIVAL], ...objects } });
  return observeRollout(GENERAL, context);
}

describe('observeRollout', () => {
  it('ROL-06 keeps the machines of two sets out of both, but looks after what is in work there', () => {
    const { input, conflicts } = observe({
      Machine: [machineWith('m-1'), machineWith('m-2', { both: 'true' })],
    });
    expect([input.members, input.left].map((list) => list.map(({ name }) => name))).toEqual([
      ['m-1'],
      ['m-2'],
    ]);
    expect(conflicts).toMatchObject([{ conflict: { reason: 'SetConflict' } }]);
  });

  it('ROL-33 knows the content of the revision that completed last', () => {
    const stored = storedRevision(GENERAL, OLD, 1) as unknown as KubeObject;
    expect(observe({ ControllerRevision: [stored] }).input.stable).toEqual(OLD);
    expect(observe({}).input.stable).toBeUndefined();
  });

  it('ROL-40 finds the grants of machines that were deleted', () => {
    const other = { ...grant(), holder: { kind: 'MachineComponentSet', name: 'rival' } } as const;
    const grants = { 'm-1': grant(), gone: grant(), settled: { ...grant(), state: 'Settled' }, other };
    const ledger = { metadata: { name: 'default' }, spec: { grants } } as unknown as KubeObject;
    const { input } = observe({ Machine: [machineWith('m-1')], DefenderLedger: [ledger] });
    expect(input.deleted.map((each) => each.machine)).toEqual(['gone']);
  });

  it('ROL-05 names what a revision lacks', () => {
    expect(observe({}).input.desired).toMatchObject({ problems: [{ reason: 'ComponentNotFound' }] });
  });
});
