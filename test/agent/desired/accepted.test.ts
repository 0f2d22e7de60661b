import { describe, expect, it } from 'vitest';
import {
  type AcceptedState,
  acceptMachine,
  holdScope,
  knownSpecs,
  neededRefs,
} from '../../../src/agent/desired/accepted.ts';
import type { Machine } from '../../../src/api/generated/types.ts';
import { componentSpec } from '../../support/agent/component-spec.ts';
import { entryOf } from '../../support/agent/fake-api.ts';
import { NOW } from '../../support/virtual-clock.ts';

const SPEC = componentSpec('1.0');
const SPECS = new Map([['proxy-1.0', SPEC]]);
const LATER = '2030-01-01T12:00:01Z';
const EARLIER = '2030-01-01T11:59:59Z';

function machine(fields: Partial<Machine['metadata']> = {}, status?: Partial<Machine['status']>): Machine {
  return {
    metadata: { name: 'n1', uid: 'uid-1', generation: 5, ...fields },
    spec: { components: [entryOf(SPEC)] },
    ...(status && { status }),
  } as unknown as Machine;
}

function accepted(of: Machine): AcceptedState {
  const found = acceptMachine(undefined, of, SPECS);
  if (!('accepted' in found)) throw new Error(found.refused);
  return found.accepted;
}

describe('acceptMachine', () => {
  it.each<[name: string, of: Machine, specs: typeof SPECS, expected: string]>([
    ['accepts the same generation again', machine(), SPECS, 'accepted'],
    ['accepts a newer generation', machine({ generation: 6 }), SPECS, 'accepted'],
    ['refuses an older generation', machine({ generation: 4 }), SPECS, 'OldGeneration'],
    ['refuses another UID', machine({ uid: 'uid-2', generation: 9 }), SPECS, 'WrongMachine'],
    ['refuses a missing MachineComponent', machine(), new Map(), 'MissingComponent'],
  ])('%s', (_, of, specs, expected) => {
    const found = acceptMachine(accepted(machine()), of, specs);
    expect('accepted' in found ? 'accepted' : found.code).toBe(expected);
  });

  it('takes the hold of a person and the drain that is complete', () => {
    const held = machine(
      { annotations: { 'kubenode.dev/hold': 'x' } },
      { drain: { grant: 'g', state: 'Drained' } },
    );
    expect(accepted(held)).toMatchObject({ holdAnnotation: 'x', drainedFor: 'g' });
    expect(accepted(machine({}, { drain: { grant: 'g', state: 'Draining' } }))).not.toHaveProperty(
      'drainedFor',
    );
  });

  it.each<[what: string, providerID: string, expected: string | undefined]>([
    ['the address of a host of a pool', 'ssh:///uid-1', '10.0.0.7'],
    ['no address of another instance', 'local:///uid-1', undefined],
  ])('takes %s', (_, providerID, expected) => {
    const infra = { providerID, addresses: [{ type: 'InternalIP', address: '10.0.0.7' }] } as const;
    expect(accepted(machine({}, { infra })).address).toBe(expected);
  });
});

describe('what the entries need', () => {
  it('is nothing for a removal, and nothing that is known with the same digest', () => {
    const absent = { ...machine().spec, components: [entryOf(SPEC, true, { state: 'Absent' })] };
    expect(neededRefs(absent)).toEqual([]);
    expect(neededRefs(machine().spec)).toEqual(['proxy-1.0']);
    expect([...knownSpecs(machine().spec, accepted(machine())).keys()]).toEqual(['proxy-1.0']);
    const changed = { ...machine().spec, components: [entryOf(SPEC, true, { digest: 'sha256:other' })] };
    expect(knownSpecs(changed, accepted(machine())).size).toBe(0);
  });
});

describe('AGT-34 reads the hold of the Machine and its annotation', () => {
  it.each<[name: string, hold: object | undefined, annotation: string | undefined, expected: string]>([
    ['is None without a hold', undefined, undefined, 'None'],
    ['is that of the spec', { reason: 'r', scope: 'Disruptive' }, undefined, 'Disruptive'],
    ['ends with its time', { reason: 'r', scope: 'All', until: EARLIER }, undefined, 'None'],
    ['lasts until its time', { reason: 'r', scope: 'All', until: LATER }, undefined, 'All'],
    ['is All by the annotation', undefined, `${LATER}; disk swap`, 'All'],
    ['ends with the time of the annotation', undefined, `${EARLIER}; disk swap`, 'None'],
    ['holds when the annotation has no readable end', undefined, 'disk swap', 'All'],
  ])('%s', (_, hold, annotation, expected) => {
    const spec = { ...machine().spec, ...(hold && { hold }) } as Machine['spec'];
    expect(holdScope({ spec, ...(annotation !== undefined && { holdAnnotation: annotation }) }, NOW)).toBe(
      expected,
    );
  });

  it.each<[name: string, hold: object | undefined, expected: string]>([
    ['is Disruptive by the owner of the instance', undefined, 'Disruptive'],
    ['does not weaken that of a person', { reason: 'r', scope: 'All' }, 'All'],
    ['outlasts that of a person', { reason: 'r', scope: 'All', until: EARLIER }, 'Disruptive'],
  ])('%s', (_, hold, expected) => {
    const spec = { ...machine().spec, ...(hold && { hold }) } as Machine['spec'];
    expect(holdScope({ spec, ownerHold: 'ClusterPaused: c' }, NOW)).toBe(expected);
  });
});
