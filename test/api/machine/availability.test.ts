import { describe, expect, it } from 'vitest';
import { availabilityOf, outOfServiceReason } from '../../../src/api/machine/availability.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { ago, condition, machine, NOW, node } from '../../support/builders.ts';

const STARTING = { taints: [{ key: 'kubenode.dev/not-initialized', effect: 'NoSchedule' }] };
const withSpec = (spec: object, ready = 'True') => ({ ...node('m', ready as 'True'), spec });
const CORDONED = withSpec({ unschedulable: true });

describe('availabilityOf', () => {
  it.each<[what: string, its: KubeObject | undefined, isSilent: boolean, unavailable: string | undefined]>([
    ['a Node that is Ready', node('m'), false, undefined],
    ['no Node', undefined, false, 'it has no Node'],
    [
      'a Node that starts, also while it is Ready',
      withSpec(STARTING),
      false,
      'its Node has the start-up taint',
    ],
    ['a Node that is not Ready', node('m', 'False'), false, 'its Node is not Ready'],
    ['a Node of which nothing is known', node('m', 'Unknown'), false, 'its Node is Unknown'],
    ['a silent agent', node('m'), true, 'its agent is silent'],
    ['a cordoned Node', CORDONED, false, 'its Node is cordoned'],
  ])('judges what it observes: %s', (_what, its, isSilent, unavailable) => {
    const input = { machine: machine('m'), node: its, now: NOW };
    expect(availabilityOf(input, { by: 'Observation', isSilent }).unavailable).toBe(unavailable);
  });

  it.each<[what: string, conditions: ReturnType<typeof condition>[], expected: object]>([
    ['Ready for long enough', [readySince(30)], { from: new Date(NOW) }],
    [
      'Ready for less',
      [readySince(29)],
      { unavailable: 'it has not been Ready for spec.minReadySeconds', from: new Date(ago(-1)) },
    ],
    ['nothing', [], { unavailable: 'it has not reported Ready' }],
    [
      'that it is not Ready',
      [condition('Ready', 'False', { reason: 'NodeMissing', message: 'NodeReady: no Node m' })],
      { unavailable: 'NodeMissing: NodeReady: no Node m' },
    ],
  ])('judges by the report of the machine controller: %s', (_what, conditions, expected) => {
    const input = { machine: machine('m', { status: { conditions } }), node: undefined, now: NOW };
    expect(availabilityOf(input, { by: 'Report', minReadySeconds: 30 })).toEqual(expected);
  });

  it('counts a cordon only where it judges by what it observes', () => {
    const input = {
      machine: machine('m', { status: { conditions: [readySince(60)] } }),
      node: CORDONED,
      now: NOW,
    };
    expect(availabilityOf(input, { by: 'Report', minReadySeconds: 0 })).not.toHaveProperty('unavailable');
    expect(availabilityOf(input, { by: 'Observation', isSilent: false })).toHaveProperty('unavailable');
  });
});

describe('outOfServiceReason', () => {
  it('takes a Node that is not Ready, or is cordoned, for one in service', () => {
    expect([node('m', 'False'), CORDONED].map(outOfServiceReason)).toEqual([undefined, undefined]);
    expect(outOfServiceReason(withSpec(STARTING, 'False'))).toBe('its Node has the start-up taint');
  });
});

function readySince(seconds: number): ReturnType<typeof condition> {
  return condition('Ready', 'True', { lastTransitionTime: ago(seconds) });
}
