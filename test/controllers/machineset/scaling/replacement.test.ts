import { describe, expect, it } from 'vitest';
import type { MachineSet } from '../../../../src/api/generated/types.ts';
import { planMachineSet } from '../../../../src/controllers/machineset/plan.ts';
import { ago, NOW } from '../../../support/builders.ts';
import { explainPlan, machineSet, template } from '../../../support/machine-sets.ts';
import {
  announced,
  explainReplacement,
  NEW,
  replacedMembers,
  replacingSet,
  shownReplacement,
} from './replacing-sets.ts';

const SURGE = { maxUnavailable: 0, maxSurge: 1 };
const SURGE_TWO = { maxUnavailable: 0, maxSurge: 2 };
const DELETE = { maxUnavailable: 1 };
const BOTH = { maxUnavailable: 1, maxSurge: 1 };
const OLDEST = 'only another machine gets the new infra.config';
const UNREADY = 'only another machine gets the new infra.config: not Ready';

type Case = [
  name: string,
  strategy: Parameters<typeof replacingSet>[1],
  replicas: number,
  machines: string,
  want: string,
  spec?: Partial<MachineSet['spec']>,
];

const TEMPLATE: readonly Case[] = [
  ['does nothing when all match', SURGE, 2, 'ready ready', ''],
  [
    'creates a replacement first',
    SURGE,
    3,
    'old:ready old:ready old:ready',
    `Create #3: it replaces #0: ${OLDEST}`,
  ],
  ['waits until the replacement is Ready', SURGE, 2, 'old:ready old:ready new', ''],
  [
    'waits until the replacement was Ready for long enough',
    SURGE,
    2,
    'old:ready old:ready recovered',
    '',
    { minReadySeconds: 200 },
  ],
  [
    'deletes one when the replacement is available',
    SURGE,
    2,
    'old:ready old:ready recovered',
    `Delete #0: ${OLDEST}`,
    { minReadySeconds: 100 },
  ],
  ['waits for the replacement also where one may be unavailable', BOTH, 2, 'old:ready old:ready new', ''],
  [
    'creates as many first as may exist above replicas',
    SURGE_TWO,
    3,
    'old:ready old:ready old:ready',
    `Create #3: it replaces #0: ${OLDEST}; Create #4: it replaces #0: ${OLDEST}`,
  ],
  [
    'deletes as many as are available in their place',
    SURGE_TWO,
    3,
    'old:ready old:ready old:ready ready new',
    `Delete #0: ${OLDEST}`,
  ],
  [
    'creates no more than there are machines to replace',
    SURGE_TWO,
    2,
    'old:ready ready',
    `Create #2: it replaces #0: ${OLDEST}`,
  ],
  [
    'deletes first where no machine may exist above replicas',
    DELETE,
    3,
    'old:ready old:ready old:ready',
    `Delete #0: ${OLDEST}`,
  ],
  ['makes no more unavailable than it may', DELETE, 3, 'old:ready old:ready new', ''],
  ['counts a machine that is ill as unavailable', DELETE, 3, 'old:ready old:ready ill', ''],
  [
    'replaces one that is ill before those that serve',
    DELETE,
    3,
    'old:ready old:ill old:ready',
    `Delete #1: ${UNREADY}`,
  ],
  [
    'replaces one that is ill although more are unavailable than may be',
    DELETE,
    3,
    'old:ready old:ill old:ill',
    `Delete #1: ${UNREADY}`,
  ],
  ['never chooses a held machine', DELETE, 2, 'old:held old:ready', `Delete #1: ${OLDEST}`],
  ['creates no replacement for machines that are all held', SURGE, 2, 'old:held old:frozen', ''],
  [
    'creates what is missing first',
    DELETE,
    3,
    'old:ready old:ready leaving',
    'Create #3: 2 of 3 machines exist',
  ],
  [
    'deletes what was created above replicas when all match again',
    SURGE,
    2,
    'ready ready ready',
    'Delete #0: 3 machines exist, 2 are desired: the oldest first',
  ],
  [
    'replaces what does not match, and not what matches again after a revert',
    SURGE,
    3,
    'ready ready old:ready old:new',
    'Delete #3: only another machine gets the new infra.config: no instance',
  ],
  [
    'stops at a replacement that does not start, and tries only that one again',
    SURGE,
    2,
    'old:ready old:ready late',
    'Delete #2: it was not Ready within spec.startupTimeoutSeconds',
  ],
  [
    'names a held replacement that does not start',
    SURGE_TWO,
    2,
    'old:ready old:ready stuck',
    'wait ReplacementFailing Machine/#2: no further machine is replaced: #2 was not Ready within spec.startupTimeoutSeconds, and it is held. Change the template, or delete the machine',
  ],
  [
    'waits for machines that are being deleted when too many exist',
    SURGE,
    2,
    'old:ready old:ready leaving leaving',
    'wait Overshoot Machine/#3: 2 machines are still being deleted, and at most 2 may exist above replicas',
  ],
  ['does nothing while paused', SURGE, 1, 'old:ready', 'wait Paused: spec.paused is true', { paused: true }],
  [
    'MAC-33 replaces nothing in a storm',
    SURGE,
    4,
    'old:ready old:ready old:ill old:ill',
    'wait StormGuardActive: 2 of 4 machines of the set are unhealthy or unknown; the limit is 1. To act all the same, raise spec.stormGuard',
    { stormGuard: machineSet(1).spec.stormGuard },
  ],
];

const MARKED: readonly Case[] = [
  ['deletes what a job marked', DELETE, 2, 'job!ill ready', 'Delete #0: job job-0 replaces it'],
  ['does not replace a machine that came back', DELETE, 2, 'job!ready ready', ''],
  [
    'replaces a machine that was Ready when the job marked it',
    DELETE,
    2,
    'was-ready!ready ready',
    'Delete #0: job job-0 replaces it',
  ],
  [
    'creates the replacement first where the job asks for it',
    DELETE,
    2,
    'first!ill ready',
    'Create #2: it replaces #0: job job-0 replaces it',
  ],
  ['waits for the replacement that the job asked for', DELETE, 2, 'first!ill ready new', ''],
  [
    'does not wait for another machine that is ill',
    DELETE,
    3,
    'first!ill ill ready ready',
    'Delete #0: job job-0 replaces it',
  ],
  ['never replaces a held machine, also for a job', DELETE, 2, 'job!held ready', ''],
  [
    'deletes what a person marked',
    DELETE,
    2,
    'ask-delete!ready ready',
    'Delete #0: annotation kubenode.dev/replace-machine',
  ],
  [
    'creates the replacement first for a person',
    DELETE,
    2,
    'ask!ready ready',
    'Create #2: it replaces #0: annotation kubenode.dev/replace-machine',
  ],
  [
    'replaces a marked machine before those of the template',
    DELETE,
    2,
    'old:ready job!old:ill',
    'Delete #1: job job-1 replaces it',
  ],
  [
    'replaces none by the template at the same time as a marked one',
    { maxUnavailable: 2 },
    3,
    'old:ready ask-delete!ready old:ready',
    'Delete #1: annotation kubenode.dev/replace-machine',
  ],
  [
    'MAC-31 deletes a marked surplus under the grant of its job',
    DELETE,
    1,
    'job!ill ready',
    'Delete #0: 2 machines exist, 1 are desired: not Ready',
  ],
];

describe('planReplacement', () => {
  it.each<Case>(TEMPLATE)(
    'MAC-32 replaces by the changed template: %s',
    (...[, strategy, replicas, machines, want, spec]) => {
      expect(explainReplacement(replacingSet(replicas, strategy, spec), machines)).toBe(want);
    },
  );

  it.each<Case>(MARKED)(
    'MAC-32 replaces what jobs have marked: %s',
    (...[, strategy, replicas, machines, want, spec]) => {
      expect(explainReplacement(replacingSet(replicas, strategy, spec), machines)).toBe(want);
    },
  );

  it.each(['InPlace', 'OnDelete'] as const)('MAC-32 replaces what is marked also with %s', (type) => {
    const set = replacingSet(2, DELETE);
    const other = { ...set, spec: { ...set.spec, updateStrategy: { type, maxUnavailable: 1 } } };
    expect(explainReplacement(other, 'old:ready job!old:ill')).toBe('Delete #1: job job-1 replaces it');
  });

  it.each<[name: string, words: string, strategy: typeof SURGE | typeof DELETE, want: string]>([
    ['which machine it replaces', 'old:ready old:ready', SURGE, `Replace #0: ${OLDEST}`],
    ['what it waits for', 'old:ready old:ready new', SURGE, 'Replace #0: waits for #2: NotReady: '],
    [
      'all that are replaced at once',
      'job!ill job!ill ready',
      DELETE,
      'Replace #0 #1: job job-0 replaces it',
    ],
  ])('MAC-32 shows %s before it does', (_, words, strategy, want) => {
    const set = replacingSet(words.includes('new') ? 2 : words.split(' ').length, strategy);
    expect(explainPlan(set, replacedMembers(set, words))).toBe('');
    expect(shownReplacement(set, words)).toBe(want);
  });

  it('MAC-32 shows it again when other machines or other fields are next', () => {
    const set = replacingSet(2, DELETE);
    const before = announced(set, replacedMembers(set, 'old:ready old:ready'));
    expect(explainPlan(before, replacedMembers(set, 'old:ready old:ill'))).toBe('');
    const further = { ...before.spec, template: template({ infra: NEW, host: { type: 'systemd' } }) };
    expect(explainPlan({ ...before, spec: further }, replacedMembers(set, 'old:ready old:ready'))).toBe('');
    expect(explainPlan(before, replacedMembers(set, 'old:ready old:ready'))).toBe(`Delete #0: ${OLDEST}`);
  });

  it('MAC-31 passes the grant of the job on, and no other one', () => {
    const set = replacingSet(3, DELETE);
    const machines = replacedMembers(set, 'job!ill ask-delete!ill ready');
    const { actions } = planMachineSet({ set: announced(set, machines), machines, now: NOW });
    expect(actions.map((action) => action.type === 'Delete' && action.grant)).toEqual([
      { id: 'g-0', fence: 0 },
      undefined,
    ]);
  });

  it('MAC-31 uses no grant of a job for a machine that came back', () => {
    const set = replacingSet(0, DELETE);
    const machines = replacedMembers(set, 'job!ready');
    const { actions } = planMachineSet({ set, machines, now: NOW });
    expect(actions.map((action) => action.type === 'Delete' && action.grant)).toEqual([undefined]);
  });

  it('MAC-32 replaces nothing of a set that is deleted, but deletes it', () => {
    const set = replacingSet(1, SURGE);
    const deleted = { ...set, metadata: { ...set.metadata, deletionTimestamp: ago(1) } };
    expect(explainReplacement(deleted, 'old:ready')).toBe(
      'Delete #0: MachineSet general is deleted: not up to date',
    );
  });

  it('MAC-32 puts the replacement into the zone of the machine that it replaces', () => {
    const set = replacingSet(3, SURGE, { zones: ['a', 'b', 'c'], deletionOrder: 'Newest' });
    const machines = replacedMembers(set, 'old:ready old:ready old:ready').map((each, index) => ({
      ...each,
      machine: { ...each.machine, spec: { ...each.machine.spec, zone: ['a', 'b', 'c'][index] ?? '' } },
    }));
    const { actions } = planMachineSet({ set: announced(set, machines), machines, now: NOW });
    expect(actions).toMatchObject([{ type: 'Create', zone: 'c' }]);
  });

  it('MAC-32 writes what can change in place first', () => {
    const set = replacingSet(1, SURGE);
    const node = { labels: { tier: 'web' }, taints: [] };
    const changed = { ...set, spec: { ...set.spec, template: template({ infra: NEW, node }) } };
    const machines = replacedMembers(set, 'old:ready');
    expect(explainPlan(announced(changed, machines), machines)).toBe(
      'Update #0: node.labels differ from the template',
    );
  });

  it('MAC-05 replaces a bounded number at once', () => {
    const set = replacingSet(100, { maxUnavailable: '100%' });
    const machines = replacedMembers(set, 'old:ready '.repeat(100));
    expect(planMachineSet({ set: announced(set, machines), machines, now: NOW }).actions).toHaveLength(20);
  });
});
