import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine, MachineComponentEntry } from '../../../src/api/generated/types.ts';
import { entryDigest } from '../../../src/api/machine/entry-content.ts';
import { readinessOf } from '../../../src/api/machine/node-state.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { createSimulatedApi } from '../../../src/sim/api-server/simulated-api.ts';
import { createRandom } from '../../../src/sim/random.ts';
import {
  type Behavior,
  createHost,
  hostState,
  type SimulatedVersion,
  stepHost,
} from '../../../src/sim/rollout/hosts.ts';
import { component, machine } from '../../support/builders.ts';

const PLAIN: MachineComponentEntry = { ...component('app', '2'), state: 'Present', parameters: {} };
const GRANT = { id: 'g-1', fence: 1, entryDigest: entryDigest(PLAIN), notAfter: '2030-01-01T02:00:00.000Z' };
const GRANTED = { ...PLAIN, grant: GRANT };

/** States that the agent reports, one after the other, and what is true at the end. */
function play(entry: MachineComponentEntry, behavior: Behavior, needsDrain = false): string {
  let nowMs = Date.parse('2030-01-01T00:00:00Z');
  const api = createSimulatedApi({ nowMs: () => nowMs, changed: () => {} });
  const { metadata, spec, apiVersion, kind } = machine('m-1');
  const created = api.put({ apiVersion, kind, metadata, spec: { ...spec, components: [entry] } });
  const host = createHost('m-1', String(created.metadata.uid), nowMs);
  const states = new Set<string>();
  for (let step = 0; step < 60; step += 1) {
    nowMs += 5000;
    const version = { behaviorOn: () => behavior, needsDrain };
    stepHost(host, { api, random: createRandom(1), nowMs: () => nowMs, version: () => version });
    states.add(reportedState(api.get(MACHINES, 'm-1')));
  }
  return `${[...states].join(' ')}: ${hostState(host, entry)}, ${readinessOf(api.get(NODES, 'm-1'))}`;
}

function reportedState(found: Machine | undefined): string {
  const [report] = found?.status?.components ?? [];
  return String(report?.state);
}

describe('stepHost', () => {
  it.each<[behavior: Behavior, expected: string]>([
    ['Good', 'Activating Probation Committed: Committed, Ready'],
    ['Fails', 'Activating Probation RolledBack: GaveUp, Ready'],
    ['Hangs', 'Activating Probation: Working, Ready'],
    ['Late', 'Activating Probation Committed: Committed, NotReady'],
  ])('installs a version that is %s', (behavior, expected) => {
    expect(play(GRANTED, behavior)).toBe(expected);
  });

  it('begins nothing without a grant for that very content, and waits for its drain', () => {
    expect(play(PLAIN, 'Good')).toBe('WaitingForGrant: Working, Ready');
    const other = { ...GRANTED, grant: { ...GRANT, entryDigest: 'sha256:other' } };
    expect(play(other, 'Good')).toBe('WaitingForGrant: Working, Ready');
    const ended = { ...GRANTED, grant: { ...GRANT, notAfter: '2029-01-01T00:00:00.000Z' } };
    expect(play(ended, 'Good')).toBe('WaitingForGrant: Working, Ready');
    expect(play(GRANTED, 'Good', true)).toBe('WaitingForDrain: Working, Ready');
  });

  it('leaves no Lease of a Machine that was deleted or recreated, and writes none for it', () => {
    let nowMs = Date.parse('2030-01-01T00:00:00Z');
    const api = createSimulatedApi({ nowMs: () => nowMs, changed: () => {} });
    const { metadata, spec, apiVersion, kind } = machine('m-1');
    const declared = { apiVersion, kind, metadata, spec: { ...spec, components: [] } };
    const host = createHost('m-1', String(api.put(declared).metadata.uid), nowMs);
    const beat = (): number => {
      nowMs += 60_000;
      const version: SimulatedVersion = { behaviorOn: () => 'Good', needsDrain: false };
      stepHost(host, { api, random: createRandom(1), nowMs: () => nowMs, version: () => version });
      return api.list(LEASES).length;
    };
    expect(beat()).toBe(1);
    api.delete(MACHINES, metadata);
    expect(api.list(LEASES)).toEqual([]);
    expect(beat()).toBe(0);
    api.put(declared);
    expect(beat()).toBe(0);
  });
});
