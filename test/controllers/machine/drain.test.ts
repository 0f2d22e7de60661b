import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../src/api/generated/types.ts';
import { componentOrder, planMachineDrain } from '../../../src/controllers/machine/drain.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { ago, DESIRED, machine, NOW, node, PREVIOUS } from '../../support/builders.ts';

type Report = NonNullable<NonNullable<Machine['status']>['components']>[number];
type Drain = NonNullable<Machine['status']>['drain'];

interface Case {
  readonly state?: Report['state'];
  readonly report?: Partial<Report>;
  readonly drain?: Drain;
  readonly hold?: 'All' | 'Disruptive';
  readonly grant?: string | null;
  /** `-`: none. Else `cordoned by X`, `cordoned` by a person, `marked X` when a person uncordoned it. */
  readonly node?: string;
  readonly ready?: 'True' | 'False';
}

const DRAINING: Drain = { grant: 'g-1', state: 'Draining', since: ago(60) };
const DRAINED: Drain = { ...DRAINING, state: 'Drained' };

function machineFor({ state = 'Committed', report, drain, hold, grant = 'g-1' }: Case): Machine {
  const permission = { fence: 1, entryDigest: DESIRED.digest, notAfter: ago(-300) };
  const entry = { ...DESIRED, state: 'Present', parameters: {} } as const;
  const digest = state === 'Committed' ? DESIRED.digest : PREVIOUS.digest;
  return machine('m', {
    spec: {
      components: [grant === null ? entry : { ...entry, grant: { ...permission, id: grant } }],
      ...(hold ? { hold: { reason: 'x', scope: hold } } : {}),
    },
    status: {
      components: [{ name: 'kubelet', desiredRef: DESIRED.componentRef, digest, state, ...report }],
      ...(drain ? { drain } : {}),
    },
  });
}

function nodeFor({ node: text = '', ready = 'True' }: Case): KubeObject | undefined {
  if (text === '-') return undefined;
  const owner = /(?:by|marked) (?<owner>\S+)/.exec(text)?.groups?.['owner'];
  const annotations = owner === undefined ? {} : { 'kubenode.dev/cordoned-by': owner };
  return {
    ...node('m', ready, { annotations }),
    spec: text.startsWith('cordoned') ? { unschedulable: true } : {},
  };
}

function explain(input: Case): string {
  const object = machineFor(input);
  const plan = planMachineDrain({
    machine: object,
    node: nodeFor(input),
    order: componentOrder(object),
    now: NOW,
  });
  const blocker =
    plan.type === 'Wait' ? ` ${plan.wait.reason} ${plan.wait.blocker?.kind}/${plan.wait.blocker?.name}` : '';
  const state = plan.type === 'Record' ? ` ${plan.drain.state}` : '';
  return `${plan.type}${state}${blocker}: ${plan.because}`;
}

const WAITING = { state: 'WaitingForDrain' } as const;
const ACTIVATING = { state: 'Activating', drain: DRAINED } as const;
const BY_US = 'cordoned by g-1';

describe('planMachineDrain', () => {
  it.each<[name: string, input: Case, want: string]>([
    ['does nothing without an order', {}, 'Nothing: no drain is asked for'],
    ['records the drain before its first act', WAITING, 'Record Cordoned: grant g-1'],
    ['never drains without a grant', { ...WAITING, grant: null }, 'Nothing: no drain is asked for'],
    [
      'drains for no version that is not assigned any more',
      { ...WAITING, report: { desiredRef: PREVIOUS.componentRef } },
      'Nothing: no drain is asked for',
    ],
    ['cordons with its grant', { ...WAITING, drain: DRAINING }, 'Cordon: grant g-1'],
    [
      'evicts from a node that it cordoned',
      { ...WAITING, drain: DRAINING, node: BY_US },
      'Evict: the node is cordoned by us',
    ],
    [
      'ROL-35 evicts from a node that a person cordoned',
      { ...WAITING, drain: DRAINING, node: 'cordoned' },
      'Evict: the node is cordoned by someone else',
    ],
    [
      'waits when a person has uncordoned it',
      { ...WAITING, drain: DRAINING, node: 'marked g-1' },
      'Wait UncordonedByPerson Node/m: a person has uncordoned the node',
    ],
    [
      'waits for the cordon of another grant',
      { ...WAITING, drain: DRAINING, node: 'cordoned by g-9' },
      'Wait MachineBusy Node/m: the node is cordoned for another grant',
    ],
    [
      'is drained without a Node',
      { ...WAITING, drain: DRAINING, node: '-' },
      'Record Drained: the Node does not exist',
    ],
    [
      'does no more when it is drained',
      { ...WAITING, drain: DRAINED, node: BY_US },
      'Nothing: the machine is drained',
    ],
    [
      'keeps the cordon while the component goes on',
      { ...ACTIVATING, node: BY_US },
      'Nothing: the machine is drained',
    ],
    [
      'keeps the cordon while the component rolls back',
      { state: 'RollingBack', drain: DRAINED, node: BY_US },
      'Nothing: the machine is drained',
    ],
    [
      'keeps the cordon while the agent reports an older version',
      { state: 'RolledBack', report: { desiredRef: PREVIOUS.componentRef }, drain: DRAINED, node: BY_US },
      'Nothing: the machine is drained',
    ],
    [
      'ROL-35 uncordons when the component is committed',
      { drain: DRAINED, node: BY_US },
      'Uncordon: the node is cordoned by us',
    ],
    [
      'ROL-35 uncordons when the component was rolled back',
      { state: 'RolledBack', drain: DRAINED, node: BY_US },
      'Uncordon: the node is cordoned by us',
    ],
    [
      'ROL-35 uncordons when the grant is withdrawn before the drain is over',
      { ...WAITING, grant: null, drain: DRAINING, node: BY_US },
      'Uncordon: the node is cordoned by us',
    ],
    [
      'ROL-35 uncordons before it begins for another grant',
      { ...WAITING, grant: 'g-2', drain: DRAINING, node: BY_US },
      'Uncordon: the node is cordoned by us',
    ],
    [
      'ROL-35 keeps the cordon of a Node that is not Ready, and names it',
      { drain: DRAINED, node: BY_US, ready: 'False' },
      'Wait NodeNotReady Node/m: Node m stays cordoned until it is Ready',
    ],
    [
      'ROL-35 never uncordons what a person cordoned',
      { drain: DRAINED, node: 'cordoned' },
      'End: the node is cordoned by someone else',
    ],
    [
      'ROL-11 hands the cordon of a Node that is not Ready over to the update that may be its cure',
      { ...WAITING, drain: { ...DRAINED, grant: 'g-0' }, node: 'cordoned by g-0', ready: 'False' },
      'Uncordon: the node is cordoned by us',
    ],
    [
      'ROL-35 never uncordons what another grant cordoned',
      { drain: DRAINED, node: 'cordoned by g-9' },
      'End: the node is cordoned for another grant',
    ],
    [
      'removes its mark when a person has uncordoned the node',
      { drain: DRAINED, node: 'marked g-1' },
      'Uncordon: a person has uncordoned the node',
    ],
    [
      'ends the drain of a Node that is deleted',
      { drain: DRAINED, node: '-' },
      'End: the Node does not exist',
    ],
    [
      'begins no drain of a machine that is held',
      { ...WAITING, hold: 'All' },
      'Wait HeldAll Machine/m: the machine is held',
    ],
    [
      'leaves a cordon alone while the machine is held',
      { drain: DRAINED, node: BY_US, hold: 'All' },
      'Wait HeldAll Machine/m: the machine is held',
    ],
    ['has nothing to do for a machine that is only held', { hold: 'All' }, 'Nothing: no drain is asked for'],
    [
      'evicts nothing while the machine is held',
      { ...WAITING, drain: DRAINING, node: BY_US, hold: 'Disruptive' },
      'Wait HeldDisruptive Machine/m: the machine is held',
    ],
    [
      'uncordons also while disruption is held',
      { drain: DRAINED, node: BY_US, hold: 'Disruptive' },
      'Uncordon: the node is cordoned by us',
    ],
  ])('%s', (_, input, want) => {
    expect(explain(input)).toBe(want);
  });
});
