import { describe, expect, it } from 'vitest';
import { nodeMissingSince, unregistered } from '../../../../src/agent/component/drift/registration.ts';
import { FREE } from '../../../support/agent/component-driver.ts';
import { condition, machine } from '../../../support/builders.ts';
import { NOW } from '../../../support/virtual-clock.ts';

function ago(seconds: number): Date {
  return new Date(NOW.getTime() - seconds * 1000);
}

interface Case {
  readonly missing?: number;
  readonly started: number;
  readonly identity?: 'None';
}

describe('unregistered', () => {
  it.each<[what: string, each: Case, expected: string]>([
    ['whose Node exists', { started: 3600 }, 'nothing'],
    ['whose Node was deleted a moment ago', { missing: 29, started: 3600 }, 'nothing'],
    ['whose Node was deleted', { missing: 30, started: 3600 }, 'started before the Node was deleted'],
    ['that started after that', { missing: 3600, started: 599 }, 'nothing'],
    [
      'that started after that, and registers nothing',
      { missing: 3600, started: 600 },
      'has not registered its Node',
    ],
    ['of another component', { missing: 3600, started: 7200, identity: 'None' }, 'nothing'],
  ])(
    'AGT-31 restarts a kubelet that has no Node, and no other process: %s',
    (_what, { missing, started, identity = 'Kubelet' as const }, expected) => {
      const brakes = missing === undefined ? FREE : { ...FREE, nodeMissingSince: ago(missing) };
      const found = unregistered({ brakes, now: NOW }, { identity }, { at: ago(started).toISOString() });
      expect(found ?? 'nothing').toContain(expected);
    },
  );
});

describe('nodeMissingSince', () => {
  const missing = { ...condition('NodeReady', 'False'), reason: 'NodeMissing' };
  it.each([
    ['is missing', machine('m', { status: { conditions: [missing] } }), new Date(missing.lastTransitionTime)],
    [
      'is not Ready',
      machine('m', { status: { conditions: [{ ...missing, reason: 'NodeNotReady' }] } }),
      undefined,
    ],
    [
      'goes with its Machine',
      machine('m', { metadata: { deletionTimestamp: 'now' }, status: { conditions: [missing] } }),
      undefined,
    ],
    ['is not reported', machine('m'), undefined],
    ['is that of a Machine which is not read', undefined, undefined],
  ])('of a Node that %s', (_what, object, expected) => {
    expect(nodeMissingSince(object)).toEqual(expected);
  });
});
