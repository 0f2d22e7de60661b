import { expect, it } from 'vitest';
import type { MachineComponentEntry } from '../../../../src/api/generated/types.ts';
import { pinAsk } from '../../../../src/controllers/componentset/pin/ask.ts';
import { component, machine, NOW } from '../../../support/builders.ts';

const PIN: MachineComponentEntry = { ...component('proxy', '2'), state: 'Present', parameters: {} };

it.each<readonly [string, Partial<MachineComponentEntry>, string | undefined, readonly string[] | undefined]>(
  [
    ['a version that the machine does not have', {}, 'proxy-1', ['proxy-2']],
    ['the first version of a component', {}, undefined, ['proxy-2']],
    ['other parameters of the version that it has: nothing', {}, 'proxy-2', undefined],
    ['a removal: nothing', { state: 'Absent' }, 'proxy-1', undefined],
  ],
)('brings what is new on the machine: %s', (_, fields, currentRef, brings) => {
  const pin = { ...PIN, ...fields };
  const reports = [{ name: 'proxy', desiredRef: pin.componentRef, ...(currentRef ? { currentRef } : {}) }];
  const pinned = machine('m-1', {
    metadata: { managedFields: [] },
    spec: { components: [pin] },
    status: { components: reports },
  });
  const asked = pinAsk({ machine: pinned, now: NOW }, ['proxy'], { node: undefined, find: () => undefined });
  expect(asked).toMatchObject({ holder: { kind: 'Machine', name: 'm-1' }, action: 'UpdateComponent' });
  expect(asked.brings).toEqual(brings);
});
