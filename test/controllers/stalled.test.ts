/** The controllers of Machines and sets tell people what waits for them, in an Event of the object. */

import { describe, expect, it } from 'vitest';
import { DEFENDER_LEDGERS, MACHINE_SETS, MACHINES } from '../../src/api/generated/resources.ts';
import { createMachineController } from '../../src/controllers/machine/controller.ts';
import { createMachineSetController } from '../../src/controllers/machineset/controller.ts';
import { CERTIFICATE_REQUESTS } from '../../src/kube/auth/certificate-requests.ts';
import { EVENTS } from '../../src/kube/events/object.ts';
import { NODES } from '../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../src/kube/objects/json.ts';
import type { KubeObject } from '../../src/kube/objects/object.ts';
import { servedKind } from '../../src/sim/api-server/kinds.ts';
import { machine } from '../support/builders.ts';
import { type ControllerBed, createControllerBed } from '../support/controller/bed.ts';
import { machineSet } from '../support/machine-sets.ts';
import { memoryGrants } from '../support/memory-grants.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import { createFleetBed } from './componentset/fleet-bed.ts';

const KINDS = [
  servedKind(MACHINES),
  servedKind(MACHINE_SETS),
  servedKind(NODES),
  { resource: DEFENDER_LEDGERS },
  { resource: CERTIFICATE_REQUESTS },
];
const PAGES = { pages: () => Promise.reject(new Error('nothing is drained')) } as never;

/** As a person writes it. */
function personal(
  { apiVersion, kind, metadata: { name }, spec }: KubeObject & { spec: object },
  more: object,
): KubeObject {
  return { apiVersion, kind, metadata: { name }, spec: { ...spec, ...more } };
}

async function bedWith(object: KubeObject): Promise<ControllerBed> {
  const grants = memoryGrants(virtualClock());
  const controllers = [
    createMachineController({ client: PAGES, grants }),
    createMachineSetController({ client: PAGES, grants }),
  ];
  const bed = createControllerBed({ controllers, kinds: KINDS, objects: [object] });
  await bed.start();
  await bed.advance(60_000);
  return bed;
}

function stalled({ api }: Pick<ControllerBed, 'api'>): readonly string[] {
  return api.objects
    .list({ resource: EVENTS }, undefined)
    .filter((event) => textAt(event, 'reason')?.endsWith('Stalled'))
    .map((event) => [textAt(event, 'type'), textAt(event, 'reason'), textAt(event, 'note')].join(' '));
}

const LENIENT = {
  soakSeconds: 10,
  approval: 'None',
  checks: [
    {
      name: 'health',
      builtin: {},
      intervalSeconds: 60,
      failureLimit: 1,
      inconclusiveLimit: 3,
      consecutiveSuccess: 1,
    },
  ],
} as const;

describe('an object that is Stalled', () => {
  it('MAC-04 has one Event: a Machine', async () => {
    const bed = await bedWith(personal(machine('m-1'), { deletion: { cleanup: 'Wipe' } }));
    expect(stalled(bed)).toEqual([
      expect.stringMatching(/^Warning MachineStalled NotSupported: spec\.deletion\.cleanup: not supported/),
    ]);
  });

  it('MAC-04 has one Event: a MachineSet', async () => {
    const bed = await bedWith(
      personal(machineSet(0), { updateStrategy: { type: 'OnDelete', maxUnavailable: 2 } }),
    );
    expect(stalled(bed)).toEqual([
      expect.stringMatching(/^Warning ScaleStalled NotSupported: spec\.updateStrategy/),
    ]);
  });

  it('ROL-36 has one Event: a MachineComponentSet', async () => {
    const bed = createFleetBed({ machines: 1, rollout: { gate: LENIENT } });
    await bed.start();
    bed.version('1');
    await bed.run(30);
    expect(stalled(bed)).toEqual([
      expect.stringMatching(
        /^Warning RolloutStalled NotSupported: spec\.rollout\.gate\.checks\[0\]\.failureLimit: not supported/,
      ),
    ]);
  });
});
