import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../src/api/generated/types.ts';
import {
  isComponentEnded,
  jobGrants,
  machineGrants,
  nodeGrants,
} from '../../../src/defender/facts/live-grants.ts';
import { DESIRED, machine, node, PREVIOUS } from '../../support/builders.ts';
import { job } from '../objects.ts';

type Report = NonNullable<NonNullable<Machine['status']>['components']>[number];

const GRANT = { id: 'g-9-1', fence: 9, entryDigest: 'd', notAfter: '2030-01-01T12:05:00Z' };
const ENTRY = {
  ...DESIRED,
  state: 'Present',
  parameters: {},
  grant: GRANT,
  assignment: { set: 'base', revision: 'r-1' },
} as const;
const UPDATE = { name: DESIRED.name, desiredRef: DESIRED.componentRef } as const;
const BEFORE = { currentRef: PREVIOUS.componentRef, digest: PREVIOUS.digest } as const;
const AFTER = { currentRef: DESIRED.componentRef, digest: DESIRED.digest } as const;

/** A machine with the entry, as its agent reports it. */
function updating(report: Partial<Report>, { entry = {}, observed = 3 } = {}): Machine {
  const found = machine('m-1', {
    spec: { components: [{ ...ENTRY, ...entry }] },
    status: { agent: { observedGeneration: observed }, components: [{ ...UPDATE, ...report }] },
  });
  return { ...found, metadata: { ...found.metadata, generation: 3 } };
}

function inWork(parts: Parameters<typeof job>[1]): readonly boolean[] {
  return jobGrants(job('m-1', parts)).map((grant) => grant.isInWork);
}

describe('grants that live objects carry', () => {
  it('R32 rebuilds the entry of a job, with its rule, its renewal and the step of its risk', () => {
    const renewed = job('m-1', { status: { grant: { notAfter: '2030-01-01T12:09:00Z' } } });
    expect(jobGrants(renewed)).toEqual([
      {
        machine: 'm-1',
        isInWork: false,
        entry: {
          id: 'g-7-0',
          fence: 7,
          state: 'Started',
          holder: {
            kind: 'RemedyOperationJob',
            name: 'm-1-job',
            origin: 'NodeRemedier/hang',
            revision: 'c0ffee',
          },
          action: 'Reboot',
          risk: 'Node',
          nodeUID: 'uid-m-1',
          issuedAt: '2030-01-01T12:00:00Z',
          notAfter: '2030-01-01T12:09:00Z',
        },
      },
    ]);
  });

  it('has a job in work once a step may have begun, and no longer when its outcome is written', () => {
    const release = {
      step: 'a',
      try: 1,
      fence: 7,
      nodeUID: 'u',
      bootID: 'b',
      notAfter: '2030-01-01T12:01:00Z',
    };
    expect(inWork({ status: { steps: [{ id: 'a', state: 'Pending' }] } })).toEqual([false]);
    expect(inWork({ status: { steps: [{ id: 'a', state: 'Intended' }] } })).toEqual([true]);
    expect(inWork({ status: { release } })).toEqual([true]);
    expect(inWork({ status: { release, outcome: { class: 'Succeeded' } } })).toEqual([false]);
  });

  it('R32 rebuilds the entry of a component, with its set and revision', () => {
    expect(machineGrants(updating({ state: 'Activating', ...BEFORE }))).toMatchObject([
      {
        machine: 'm-1',
        isInWork: true,
        entry: {
          id: 'g-9-1',
          fence: 9,
          action: 'UpdateComponent',
          holder: { kind: 'MachineComponentSet', name: 'base', revision: 'r-1' },
          issuedAt: '2030-01-01T12:00:00.000Z',
        },
      },
    ]);
    expect(machineGrants(machine('m-1'))).toEqual([]);
  });

  it.each<[NonNullable<Report['state']>, boolean, Partial<Report>]>([
    ['Staged', false, BEFORE],
    ['WaitingForGrant', false, BEFORE],
    ['WaitingForDrain', true, BEFORE],
    ['Activating', true, BEFORE],
    ['Activating', true, {}],
    ['Probation', true, AFTER],
    ['RollingBack', true, AFTER],
    ['RollingBack', true, BEFORE],
    ['RolledBack', false, BEFORE],
    ['Committed', false, AFTER],
    ['Activating', false, { ...BEFORE, desiredRef: 'kubelet-1.33.0' }],
  ])('R32 has a component in state %s in work: %s, with %j', (state, expected, report) => {
    expect(machineGrants(updating({ state, ...report }))).toMatchObject([{ isInWork: expected }]);
  });

  it.each<[string, boolean, Partial<Report>, Parameters<typeof updating>[1]]>([
    ['is committed', true, { state: 'Committed', ...AFTER }, {}],
    ['is rolled back to the version before', true, { state: 'RolledBack', ...BEFORE }, {}],
    ['failed', true, { state: 'Failed', ...BEFORE }, {}],
    ['is between two versions', false, { state: 'Activating', ...BEFORE }, {}],
    ['has yet to begin', false, { state: 'Committed', ...BEFORE, desiredRef: PREVIOUS.componentRef }, {}],
    ['is not read yet', false, { state: 'Committed', ...AFTER }, { observed: 2 }],
    ['was rolled back before the entry was read', false, { state: 'RolledBack', ...BEFORE }, { observed: 2 }],
    ['is removed', true, { name: 'other' }, { entry: { state: 'Absent' } }],
    ['is being removed', false, { state: 'Activating', ...AFTER }, { entry: { state: 'Absent' } }],
    ['is to be removed', false, { name: 'other' }, { entry: { state: 'Absent' }, observed: 2 }],
  ])('a component that %s has ended: %s', (_, expected, report, options) => {
    const found = updating(report, options);
    const [entry] = found.spec.components;
    expect(entry && isComponentEnded(found, entry)).toBe(expected);
  });

  it('R32 recognizes a restored ledger by the mark of a cordon or of a drain, which is not an act in work', () => {
    const cordoned = node('m-1', 'True', { annotations: { 'kubenode.dev/cordoned-by': 'g-88-2' } });
    expect(nodeGrants(cordoned)).toMatchObject([
      { machine: 'm-1', isInWork: false, isForgeable: true, entry: { fence: 88 } },
    ]);
    expect(machineGrants(machine('m-1', { status: { drain: { grant: 'g-12-0' } } }))).toMatchObject([
      { isInWork: false, entry: { id: 'g-12-0', fence: 12 } },
    ]);
    const foreign = node('m-1', 'True', { annotations: { 'kubenode.dev/cordoned-by': 'alice' } });
    expect([...nodeGrants(foreign), ...nodeGrants(node('m-1'))]).toEqual([]);
  });
});
