import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../../src/api/generated/types.ts';
import { MANAGER_CLUSTERAPI_UPDATE } from '../../../../../src/api/names.ts';
import {
  planUpdate,
  type StoredMachine,
  type UpdateDecision,
  type UpdateMachineInput,
} from '../../../../../src/controllers/following/clusterapi/extension/plan.ts';
import { type MachineParts, NOW } from '../../../../support/builders.ts';
import { asked, entryOf, facts, NEW, OLD, ownedBy, rules, updatable } from './facts.ts';

const TO = 'v1.34.2';
const STORED: StoredMachine = { version: TO, providerID: 'inst://1', isUpdating: true };

function pinned(status: MachineParts['status'] = {}): Machine {
  return updatable(1, { spec: { components: [entryOf(NEW)] }, status, metadata: { generation: 2 } });
}

describe('planUpdate', () => {
  const input = (changes: Partial<UpdateMachineInput> = {}): UpdateMachineInput => ({
    ...facts([]),
    asked: asked(1, TO),
    onFailure: 'Wait',
    stored: STORED,
    machine: updatable(1),
    ...changes,
  });

  it('CAP-06 pins the kubelet of the version, once', () => {
    const decision = planUpdate(input());
    expect(decision).toMatchObject({
      type: 'Pin',
      entry: { componentRef: 'kubelet-1.34.2', digest: NEW.digest },
    });
    expect(planUpdate(input({ machine: pinned() })).type).toBe('Wait');
  });

  it.each<[name: string, changes: Partial<UpdateMachineInput>, decision: string]>([
    ['a machine that was deleted', { stored: undefined }, 'Refuse'],
    ['one that Cluster API does not update', { stored: { ...STORED, isUpdating: false } }, 'Refuse'],
    ['another version than Cluster API asks for', { stored: { ...STORED, version: 'v1.34.3' } }, 'Refuse'],
    ['a Node of another instance', { stored: { ...STORED, providerID: 'inst://7' } }, 'Wait'],
    ['one without a Machine of kubenode', { machine: undefined }, 'Wait'],
    ['one that is held meanwhile', { machine: heldMachine() }, 'Wait'],
    ['one that a person has pinned meanwhile', { machine: personalMachine() }, 'Wait'],
    ['one that the rules forbid meanwhile', { rules: rules({ forbiddenReason: () => 'no' }) }, 'Wait'],
  ])('CAP-06 does not begin with %s', (_, changes, type) => {
    expect(planUpdate(input(changes)).type).toBe(type);
  });

  it.each<[name: string, status: MachineParts['status'], decision: string]>([
    [
      'waits for the agent',
      { agent: { observedGeneration: 1 } },
      'Wait the agent of node-1 has not read the change yet',
    ],
    [
      'has the deepest cause',
      working({
        state: 'Staged',
        waiting: { reason: 'GrantNeeded', message: 'no grant', since: NOW.toISOString() },
      }),
      'Wait node-1: kubelet is Staged: no grant',
    ],
    [
      'ends when it is in force',
      working({ state: 'Committed', digest: NEW.digest, running: true, ready: true }),
      'Done kubelet-1.34.2 runs on node-1',
    ],
    [
      'waits for probes',
      working({ state: 'Committed', digest: NEW.digest, running: true, ready: false }),
      'Wait node-1: probes of kubelet fail',
    ],
  ])('CAP-06 follows the agent of a machine: %s', (_, status, decision) => {
    expect(textOf(planUpdate(input({ machine: pinned(status) })))).toBe(decision);
  });

  it('CAP-06 fails only where the ExtensionConfig asks for it', () => {
    const machine = pinned(
      working({ state: 'RolledBack', error: { message: 'exit 1', reason: 'ExitCode' } }),
    );
    expect(textOf(planUpdate(input({ machine })))).toBe('Wait node-1: kubelet: exit 1');
    expect(textOf(planUpdate(input({ machine, onFailure: 'Fail' })))).toBe('Fail node-1: kubelet: exit 1');
  });

  it('CAP-06 takes its own pin to the next version', () => {
    const own = updatable(1, { metadata: { managedFields: [ownedBy(MANAGER_CLUSTERAPI_UPDATE)] } });
    expect(
      planUpdate(input({ machine: { ...own, metadata: { ...updatable(1).metadata, ...own.metadata } } }))
        .type,
    ).toBe('Pin');
  });
});

function working(report: object): MachineParts['status'] {
  const base = { name: 'kubelet', desiredRef: NEW.componentRef };
  return { agent: { observedGeneration: 2 }, components: [{ ...base, ...report }] };
}

function heldMachine(): Machine {
  return updatable(1, { spec: { components: [entryOf(OLD)], hold: { reason: 'debugging', scope: 'All' } } });
}

function personalMachine(): Machine {
  return updatable(1, { metadata: { ...updatable(1).metadata, managedFields: [ownedBy('kubectl')] } });
}

function textOf({ type, because }: { type: string; because: string } | UpdateDecision): string {
  return `${type} ${because}`;
}
