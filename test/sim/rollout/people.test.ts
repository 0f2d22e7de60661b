import { describe, expect, it } from 'vitest';
import { MACHINE_COMPONENT_SETS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { MachineComponentSet } from '../../../src/api/generated/types.ts';
import { createSimulatedApi, type SimulatedApi } from '../../../src/sim/api-server/simulated-api.ts';
import { createRandom } from '../../../src/sim/random.ts';
import {
  addMachine,
  approveRollouts,
  calmDown,
  createSets,
  interfere,
  type PeopleContext,
} from '../../../src/sim/rollout/people.ts';

function createPeople(): PeopleContext {
  const api = createSimulatedApi({ nowMs: () => 0, changed: () => {} });
  const people = { api, random: createRandom(3), nowMs: () => 0, hosts: new Map(), versions: new Map() };
  createSets(people);
  for (let index = 0; index < 6; index += 1) addMachine(people);
  return people;
}

const EDITS: Readonly<Record<string, (api: SimulatedApi) => boolean>> = {
  deleted: (api) => api.list(MACHINE_COMPONENT_SETS).length < 2,
  held: (api) => api.list(MACHINES).some(({ spec }) => spec.hold),
  moved: (api) => api.list(MACHINES).some(({ metadata }) => (metadata.generation ?? 0) === 1),
  missing: (api) => specs(api).some(({ components }) => components[0]?.componentRef.endsWith('missing')),
  paused: (api) => specs(api).some(({ paused }) => paused),
  retried: (api) => specs(api).some(({ retryToken }) => retryToken !== undefined),
  limited: (api) => specs(api).some(({ rollout }) => rollout.maxUnavailable === '50%'),
};

function specs(api: SimulatedApi): readonly MachineComponentSet['spec'][] {
  return api.list(MACHINE_COMPONENT_SETS).map(({ spec }) => spec);
}

describe('interfere', () => {
  it('makes every kind of edit sooner or later', () => {
    const people = createPeople();
    const found = new Set<string>();
    for (let edit = 0; edit < 2000; edit += 1) {
      interfere(people);
      for (const [name, isMade] of Object.entries(EDITS)) if (isMade(people.api)) found.add(name);
    }
    expect([...found].toSorted()).toEqual(Object.keys(EDITS).toSorted());
    expect(people.versions.size).toBeGreaterThan(100);
  });
});

describe('calmDown', () => {
  it('ends holds and pauses', () => {
    const people = createPeople();
    for (let edit = 0; edit < 200; edit += 1) interfere(people);
    calmDown(people);
    expect(people.api.list(MACHINES).filter(({ spec }) => spec.hold)).toEqual([]);
    expect(people.api.list(MACHINE_COMPONENT_SETS).filter(({ spec }) => spec.paused)).toEqual([]);
  });
});

describe('approveRollouts', () => {
  it('approves the revision that waits for it, and no other', () => {
    const { api } = createPeople();
    const [first, second] = api.list(MACHINE_COMPONENT_SETS);
    const waiting = { reason: 'ApprovalRequired', since: '2030-01-01T00:00:00Z' };
    api.put({ ...first, status: { conditions: [], updateRevision: 'r-2', waiting } } as never);
    api.put({ ...second, status: { conditions: [], updateRevision: 'r-3' } } as never);
    approveRollouts(api);
    const approved = api.list(MACHINE_COMPONENT_SETS).map(({ spec }) => spec.rollout.approved?.revision);
    expect(approved).toEqual(['r-2', undefined]);
  });
});
