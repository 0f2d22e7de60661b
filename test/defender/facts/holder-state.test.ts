import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../src/api/generated/types.ts';
import { type HolderObjects, holderState } from '../../../src/defender/facts/holder-state.ts';
import { DESIRED, machine, PREVIOUS } from '../../support/builders.ts';
import { job } from '../objects.ts';

const grant = { id: 'g-9-1', fence: 9, entryDigest: 'd', notAfter: '2030-01-01T12:05:00Z' };
type Report = 'Activating' | 'Committed' | 'RolledBack' | 'Staged';

/** The set `base` updates it; its agent reports this state. */
function updated(state: Report, fields: object = { grant }): Machine {
  const assignment = { set: 'base', revision: 'r-1' };
  const { digest } = state === 'Committed' ? DESIRED : PREVIOUS;
  return machine('m-1', {
    spec: { components: [{ ...DESIRED, state: 'Present', parameters: {}, assignment, ...fields }] },
    status: {
      agent: { observedGeneration: 1 },
      components: [{ name: DESIRED.name, desiredRef: DESIRED.componentRef, digest, state }],
    },
  });
}

function stateOf(
  kind: Parameters<typeof holderState>[2]['kind'],
  name: string,
  objects: Partial<HolderObjects>,
) {
  const none = { job: () => undefined, machine: () => undefined };
  return holderState({ ...none, ...objects }, 'm-1', { kind, name });
}

describe('the state of a holder', () => {
  it('R13 follows a job to its outcome', () => {
    const ended = job('m-1', { status: { outcome: { class: 'Permanent' } } });
    expect(stateOf('RemedyOperationJob', 'm-1-job', { job: () => job('m-1') })).toBe('Active');
    expect(stateOf('RemedyOperationJob', 'm-1-job', { job: () => ended })).toBe('Ended');
    expect(stateOf('RemedyOperationJob', 'm-1-job', {})).toBe('NotFound');
  });

  it.each([
    ['Staged', 'Active'],
    ['Activating', 'Active'],
    ['Committed', 'Ended'],
    ['RolledBack', 'Ended'],
  ] as const)('follows a set to what the agent reports: %s', (report, state) => {
    expect(stateOf('MachineComponentSet', 'base', { machine: () => updated(report) })).toBe(state);
  });

  it('takes a set that withdrew its grant, or another set, as ended', () => {
    expect(stateOf('MachineComponentSet', 'base', { machine: () => updated('Staged', {}) })).toBe('Ended');
    expect(stateOf('MachineComponentSet', 'other', { machine: () => updated('Staged') })).toBe('Ended');
  });

  it('has a Machine active while it is drained, and a MachineSet until the machine is deleted', () => {
    const drained = machine('m-1', { status: { drain: { state: 'Draining' } } });
    expect(stateOf('Machine', 'm-1', { machine: () => drained })).toBe('Active');
    expect(stateOf('Machine', 'm-1', { machine: () => machine('m-1') })).toBe('Ended');
    expect(stateOf('MachineSet', 'web', { machine: () => machine('m-1') })).toBe('Active');
    expect(stateOf('MachineSet', 'web', {})).toBe('NotFound');
  });

  it('never knows the state of people and other tools', () => {
    expect([stateOf('Other', 'alice', {}), stateOf('Cluster', 'c', {})]).toEqual(['Unknown', 'Unknown']);
  });
});
