import { describe, expect, it } from 'vitest';
import { jobGrants, machineGrants, nodeGrants } from '../../../src/defender/facts/live-grants.ts';
import { DESIRED, machine, node } from '../../support/builders.ts';
import { job } from '../objects.ts';

type Reported = 'Staged' | 'Activating' | 'Committed';

function report(state: Reported): Parameters<typeof machine>[1] {
  return { status: { components: [{ name: DESIRED.name, digest: DESIRED.digest, state }] } };
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

  it('has a component in work while its agent is between two versions', () => {
    const grant = { id: 'g-9-1', fence: 9, entryDigest: 'd', notAfter: '2030-01-01T12:05:00Z' };
    const components = [
      { ...DESIRED, state: 'Present', parameters: {}, grant, assignment: { set: 'base', revision: 'r-1' } },
    ] as const;
    const found = (state: Reported) =>
      machineGrants(machine('m-1', { spec: { components }, ...report(state) }));
    expect(found('Activating')).toMatchObject([
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
    expect([...found('Staged'), ...found('Committed')].map(({ isInWork }) => isInWork)).toEqual([
      false,
      false,
    ]);
    expect(machineGrants(machine('m-1'))).toEqual([]);
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
