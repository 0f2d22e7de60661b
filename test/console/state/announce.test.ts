import { expect, it } from 'vitest';
import { announceChange } from '../../../src/console/state/announce.ts';
import { diffStates } from '../../../src/console/state/patch.ts';
import type { ConsoleState } from '../../../src/console/state/state.ts';
import { clusterLine, FLEET_STOP, fleetPolicyCard, stateOf } from '../fixtures.ts';

const before = stateOf(Object.fromEntries([1, 2, 3, 4].map((index) => [`a/m-${index}`, 'Ready'])));

function changed(phases: Readonly<Record<string, string>>, rest: Partial<ConsoleState> = {}): ConsoleState {
  const { machines } = stateOf(phases);
  return { ...before, machines: { ...before.machines, ...machines }, ...rest };
}

it.each<[name: string, after: ConsoleState, text: string]>([
  ['nothing when nothing changed', before, ''],
  ['nothing when only a text of a machine changed', changed({ 'a/m-1': 'Ready' }), ''],
  [
    'each machine of a few',
    changed({ 'a/m-1': 'Updating', 'a/m-2': 'Held' }),
    'a/m-1: Updating. a/m-2: Held',
  ],
  [
    'only how many, of many',
    changed({ 'a/m-1': 'Updating', 'a/m-2': 'Held', 'a/m-3': 'Held', 'a/m-4': 'Held' }),
    '4 machines changed',
  ],
  [
    'a cluster and a machine',
    changed({ 'a/m-1': 'Updating' }, { clusters: { a: clusterLine('a', { state: 'Failed' }) } }),
    'a/m-1: Updating. a: Failed',
  ],
  [
    'a stop of the fleet with its reason',
    changed({}, { fleetPolicies: { 'kill-switch': fleetPolicyCard('kill-switch', { stop: FLEET_STOP }) } }),
    'kill-switch: stopped: bad kernel image',
  ],
  [
    'the phase of limits over clusters',
    changed({}, { fleetPolicies: { fleet: fleetPolicyCard('fleet', { phase: 'CutOff' }) } }),
    'fleet: CutOff',
  ],
])('announces %s', (_, after, text) => {
  const shown = { ...before, machine: (key: string) => before.machines[key] };
  expect(announceChange(shown, diffStates(before, after) ?? {})).toBe(text);
});
