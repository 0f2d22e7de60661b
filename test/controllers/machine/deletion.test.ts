import { describe, expect, it } from 'vitest';
import type { LedgerGrant, Machine, MachineKept } from '../../../src/api/generated/types.ts';
import {
  type DeletionDecision,
  type MachineDeletionInput,
  ownNode,
  planDeletion,
} from '../../../src/controllers/machine/deletion.ts';
import type { MachineWait } from '../../../src/controllers/machine/plan.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { ago, machine, NOW, node } from '../../support/builders.ts';

interface Case {
  /** `-`: none. `for node-0`: of another Node. */
  readonly grant?: string;
  readonly entry?: Partial<LedgerGrant>;
  readonly drain?: NonNullable<Machine['status']>['drain'];
  readonly deletion?: Partial<Machine['spec']['deletion']>;
  readonly hold?: 'All' | 'Disruptive';
  readonly deletedSeconds?: number;
  /** `-`: none. `starting`: with the start-up taint. Else `cordoned by X`, `cordoned`, `marked X`. */
  readonly node?: string;
  readonly uid?: string;
  /** Of the Machine: the UID of the Node that it observed; null for none. */
  readonly recorded?: null;
  /** On the Node. */
  readonly label?: string;
  readonly ready?: 'True' | 'False' | 'Unknown';
  readonly instance?: string;
  readonly config?: Machine['spec']['infra']['config'];
  readonly provider?: string;
  /** A job replaces the machine, and asks to keep it. */
  readonly isKeepAsked?: true;
  readonly kept?: Partial<MachineKept>;
  /** The Machine is an hour old. */
  readonly nodeAgeSeconds?: number;
}

const GRANT: LedgerGrant = {
  id: 'g-1',
  fence: 1,
  state: 'Granted',
  holder: { kind: 'MachineSet', name: 'general' },
  action: 'DeleteMachine',
  risk: 'Machine',
  nodeUID: 'node-1',
  issuedAt: ago(10),
  notAfter: ago(-290),
};
const DRAINING = { grant: 'g-1', state: 'Draining', since: ago(60) } as const;
const DRAINED = { ...DRAINING, state: 'Drained' } as const;
const BY_US = 'cordoned by g-1';
const KEPT: MachineKept = { job: 'j', since: ago(600), until: ago(-600), max: 1 };
const SETTLED = { state: 'Settled', outcome: 'Succeeded', settledAt: ago(5) } as const;

const KEEPING = {
  job: 'j',
  grant: 'g-1',
  fence: 1,
  replacementFirst: false,
  wasReady: true,
  since: ago(90),
  keepFailed: { holdSeconds: 600, max: 1 },
} as const;

function machineFor({
  drain,
  deletion,
  hold,
  deletedSeconds = 20,
  instance,
  recorded,
  config = {},
  isKeepAsked,
  kept,
}: Case): Machine {
  const spec = machine('m').spec;
  return machine('m', {
    metadata: {
      creationTimestamp: ago(3600),
      deletionTimestamp: ago(deletedSeconds),
      finalizers: ['kubenode.dev/machine'],
    },
    spec: {
      components: [],
      infra: { provider: 'local', config },
      deletion: { ...spec.deletion, ...deletion },
      ...(hold ? { hold: { reason: 'forensics', scope: hold } } : {}),
    },
    status: {
      ...(recorded === null ? {} : { node: { uid: 'node-1' } }),
      ...(instance === undefined ? {} : { infra: { providerID: instance } }),
      ...(drain ? { drain } : {}),
      ...keepingStatus(isKeepAsked, kept),
    },
  });
}

function keepingStatus(isAsked: true | undefined, kept: Partial<MachineKept> | undefined): object {
  return {
    ...(isAsked ? { replacement: KEEPING } : {}),
    ...(kept ? { kept: { ...KEPT, ...kept } } : {}),
  };
}

function nodeFor(input: Case): KubeObject | undefined {
  const { node: text = '', uid = 'node-1', ready = 'True', label, nodeAgeSeconds = 7200 } = input;
  if (text === '-') return undefined;
  const owner = /(?:by|marked) (?<owner>\S+)/.exec(text)?.groups?.['owner'];
  const annotations = keyed('kubenode.dev/cordoned-by', owner);
  const labels = keyed('kubenode.dev/machine', label);
  const creationTimestamp = ago(nodeAgeSeconds);
  return {
    ...node('m', ready, { annotations, uid, labels, creationTimestamp }),
    spec: nodeSpec(text, input.provider),
  };
}

function keyed(key: string, value: string | undefined): Readonly<Record<string, string>> {
  return value === undefined ? {} : { [key]: value };
}

function nodeSpec(text: string, provider: string | undefined): object {
  const taints = [{ key: 'kubenode.dev/not-initialized', effect: 'NoSchedule' }];
  return {
    ...(text.startsWith('cordoned') ? { unschedulable: true } : {}),
    ...(text === 'starting' ? { taints } : {}),
    ...(provider === undefined ? {} : { providerID: provider }),
  };
}

function situation(input: Case): MachineDeletionInput {
  const entry = input.grant === '-' ? undefined : { ...GRANT, ...input.entry };
  return { machine: machineFor(input), node: nodeFor(input), entry, othersKept: [], now: NOW };
}

function explain(input: Case): string {
  const plan = planDeletion(situation(input));
  return `${plan.type}${detailOf(plan)}: ${plan.because}`;
}

function detailOf(plan: DeletionDecision): string {
  if (plan.type === 'Kept') return settledText(plan.settle);
  if (plan.type === 'Record') return ` ${plan.drain.state} by ${plan.drain.grant}`;
  if (plan.type === 'Wait') return ` ${textOfWait(plan.wait)}`;
  if (plan.type === 'DeleteNode') return scopeOf(plan);
  return plan.type === 'Finish' ? settledText(plan.order) : '';
}

function settledText(order: { readonly id: string } | undefined): string {
  return order ? ` and settle ${order.id}` : '';
}

function scopeOf(plan: Extract<DeletionDecision, { type: 'DeleteNode' }>): string {
  return `${plan.isIncomplete ? ' with pods' : ''}${plan.keepsInstance ? ' alone' : ''}`;
}

function textOfWait({ reason, blocker }: MachineWait): string {
  return `${reason} ${blocker?.kind}/${blocker?.name}`;
}

const DELETE_NODE = 'DeleteNode: grant g-1: m is deleted';
const INCOMPLETE = 'DeleteNode with pods: grant g-1: m is deleted';
const ALONE = 'DeleteNode alone: grant g-1: m is deleted';
const KEEP_IT = 'Keep: job j keeps the instance';
const WAIT_KEPT = `Kept: the instance is kept for an analysis until ${new Date(ago(-600)).toISOString()}. To end it now: kubectl annotate machines.kubenode.dev m kubenode.dev/delete=`;
const FINISH = 'Finish and settle g-1: grant g-1: Machine m has no Node any more';

describe('planDeletion', () => {
  it.each<[name: string, input: Case, want: string]>([
    ['asks for a grant before anything else', { grant: '-' }, 'Ask: a deletion needs a grant'],
    ['asks for a grant also without a Node', { grant: '-', node: '-' }, 'Ask: a deletion needs a grant'],
    [
      'MAC-31 does nothing with the grant of another act',
      { entry: { action: 'UpdateComponent' } },
      'Ask: a deletion needs a grant',
    ],
    [
      'asks again when the grant lapsed before it was used',
      { entry: { notAfter: ago(0) } },
      'Ask: a deletion needs a grant',
    ],
    [
      'goes on with a grant that is in use past its end',
      { entry: { state: 'Started', notAfter: ago(10) } },
      'Record Cordoned by g-1: grant g-1',
    ],
    ['uses the grant of its set', {}, 'Record Cordoned by g-1: grant g-1'],
    [
      'uses the grant of a job that replaces it',
      { entry: { action: 'ReplaceMachine', holder: { kind: 'RemedyOperationJob', name: 'j' } } },
      'Record Cordoned by g-1: grant g-1',
    ],
    [
      'returns a grant for a Node that was replaced',
      { entry: { nodeUID: 'node-0' } },
      'Return: grant g-1 is for another Node',
    ],
    [
      'waits for the hold of a person',
      { hold: 'Disruptive' },
      'Wait HeldDisruptive Machine/m: the machine is held',
    ],
    [
      'waits for a hold of everything',
      { hold: 'All', drain: DRAINED },
      'Wait HeldAll Machine/m: the machine is held',
    ],
    [
      'waits for a hold also when only the finalizer is left',
      { hold: 'All', node: '-', entry: SETTLED },
      'Wait HeldAll Machine/m: the machine is held',
    ],
    ['cordons', { drain: DRAINING }, 'Cordon: grant g-1'],
    ['evicts', { drain: DRAINING, node: BY_US }, 'Evict: the node is cordoned by us'],
    [
      'waits when a person has uncordoned it',
      { drain: DRAINING, node: 'marked g-1' },
      'Wait UncordonedByPerson Node/m: a person has uncordoned the node',
    ],
    [
      'waits when a person has uncordoned it after the drain',
      { drain: DRAINED, node: 'marked g-1' },
      'Wait UncordonedByPerson Node/m: a person has uncordoned the node',
    ],
    [
      'waits for the cordon of another act',
      { drain: DRAINING, node: 'cordoned by g-9' },
      'Wait MachineBusy Node/m: the node is cordoned for another grant',
    ],
    [
      'takes the cordon of its former grant over',
      { drain: { ...DRAINING, grant: 'g-0' }, node: 'cordoned by g-0' },
      'Cordon: grant g-1 follows g-0',
    ],
    [
      'drains again for a new grant',
      { drain: { ...DRAINED, grant: 'g-0' }, node: BY_US },
      'Record Cordoned by g-1: grant g-1 follows g-0',
    ],
    ['deletes the Node when it is drained', { drain: DRAINED, node: BY_US }, DELETE_NODE],
    ['deletes a Node that a person cordoned', { drain: DRAINED, node: 'cordoned' }, DELETE_NODE],
    ['drains no Node that was never initialized', { node: 'starting' }, DELETE_NODE],
    ['drains nothing when the spec skips it', { deletion: { drain: 'Skip' } }, DELETE_NODE],
    [
      'never passes over a budget, however long it blocks',
      { drain: { ...DRAINING, since: ago(90_000) }, deletedSeconds: 90_000, node: BY_US },
      'Evict: the node is cordoned by us',
    ],
    [
      'honors budgets with Force until the drain is out of time',
      { drain: { ...DRAINING, since: ago(1799) }, deletion: { drain: 'Force' }, node: BY_US },
      'Evict: the node is cordoned by us',
    ],
    [
      'leaves pods with Force when the drain is out of time',
      { drain: { ...DRAINING, since: ago(1800) }, deletion: { drain: 'Force' }, node: BY_US },
      INCOMPLETE,
    ],
    [
      'waits for a kubelet that does not answer',
      { drain: DRAINING, ready: 'Unknown', deletedSeconds: 7199, node: BY_US },
      'Evict: the node is cordoned by us',
    ],
    [
      'MAC-20 leaves a host that does not answer when the deletion is out of time',
      { drain: DRAINING, ready: 'Unknown', deletedSeconds: 7200, node: BY_US },
      INCOMPLETE,
    ],
    [
      'waits for pods of a Node that is not Ready but answers',
      { drain: DRAINING, ready: 'False', deletedSeconds: 7200, node: BY_US },
      'Evict: the node is cordoned by us',
    ],
    ['finishes without a Node', { node: '-' }, FINISH],
    [
      'finishes without a Node, whatever Node the grant was for',
      { node: '-', entry: { nodeUID: 'node-0' } },
      FINISH,
    ],
    ['never touches a Node that it did not observe as its own', { uid: 'node-2' }, FINISH],
    [
      'knows a Node by the label that it wrote before',
      { recorded: null, label: 'm' },
      'Record Cordoned by g-1: grant g-1',
    ],
    ['never touches a Node that it did not observe at all', { recorded: null }, FINISH],
    [
      'MAC-06 takes the Node that its instance registered when it was being deleted',
      { recorded: null, instance: 'i-1', nodeAgeSeconds: 3600 },
      'Record Cordoned by g-1: grant g-1',
    ],
    [
      'MAC-06 takes such a Node also when the answer to the creation of its instance was lost',
      { recorded: null, config: { type: 'sandbox' }, nodeAgeSeconds: 3600 },
      'Record Cordoned by g-1: grant g-1',
    ],
    [
      'never touches a Node that is older than its Machine',
      { recorded: null, instance: 'i-1', nodeAgeSeconds: 3601 },
      FINISH,
    ],
    ['never touches a young Node when it had no instance', { recorded: null, nodeAgeSeconds: 5 }, FINISH],
    [
      'never touches a young Node with the label of another machine',
      { recorded: null, instance: 'i-1', nodeAgeSeconds: 5, label: 'm-2' },
      FINISH,
    ],
    ['never touches a Node with the label of another machine', { recorded: null, label: 'm-2' }, FINISH],
    ['never touches the Node of another instance', { instance: 'i-1', provider: 'i-2' }, FINISH],
    [
      'leaves the grant of a job to the job',
      { node: '-', entry: { action: 'ReplaceMachine', holder: { kind: 'RemedyOperationJob', name: 'j' } } },
      'Finish: grant g-1: Machine m has no Node any more',
    ],
    [
      'asks for no second grant after it settled its own',
      { node: '-', entry: SETTLED },
      'Finish: the grant is settled',
    ],
    [
      'asks again after the Defender ended its grant',
      { node: '-', entry: { ...SETTLED, outcome: 'Ambiguous' } },
      'Ask: a deletion needs a grant',
    ],
    [
      'takes no grant of a machine that had its name before',
      { node: '-', entry: { ...SETTLED, settledAt: ago(21) } },
      'Ask: a deletion needs a grant',
    ],
    [
      'MAC-31 never deletes a Node with a settled grant',
      { entry: SETTLED, drain: DRAINED, node: BY_US },
      'Ask: a deletion needs a grant',
    ],
    [
      'MAC-40 records that the instance is kept once it is drained',
      { isKeepAsked: true, drain: DRAINED, node: BY_US },
      KEEP_IT,
    ],
    ['does so also when the Node is not there any more', { isKeepAsked: true, node: '-' }, KEEP_IT],
    [
      'MAC-40 drains a machine first that is to be kept',
      { isKeepAsked: true, drain: DRAINING, node: BY_US },
      'Evict: the node is cordoned by us',
    ],
    [
      'MAC-40 keeps no instance on which pods may be left',
      { isKeepAsked: true, drain: DRAINING, ready: 'Unknown', deletedSeconds: 7200, node: BY_US },
      INCOMPLETE,
    ],
    [
      'MAC-40 deletes only the Node of an instance that is kept',
      { kept: {}, drain: DRAINED, node: BY_US },
      ALONE,
    ],
    [
      'MAC-40 keeps no instance whose kubelet registered again, and whose drain is forced to end',
      { kept: {}, deletion: { drain: 'Force', drainTimeoutSeconds: 60 }, drain: DRAINING, node: BY_US },
      INCOMPLETE,
    ],
    [
      'MAC-40 waits without a grant while the instance is kept',
      { kept: {}, grant: '-', node: '-' },
      WAIT_KEPT,
    ],
    [
      'MAC-40 settles its own grant when the instance begins to be kept',
      { kept: {}, node: '-' },
      WAIT_KEPT.replace('Kept:', 'Kept and settle g-1:'),
    ],
    [
      'leaves the grant of a job to the job while the instance is kept',
      {
        kept: {},
        node: '-',
        entry: { action: 'ReplaceMachine', holder: { kind: 'RemedyOperationJob', name: 'j' } },
      },
      WAIT_KEPT,
    ],
    [
      'MAC-40 asks again after it settled its own grant and the time is over',
      { kept: { until: ago(0) }, node: '-', entry: SETTLED },
      'Ask: a deletion needs a grant',
    ],
    [
      'MAC-40 asks for a grant when the time is over',
      { kept: { until: ago(0) }, grant: '-', node: '-' },
      'Ask: a deletion needs a grant',
    ],
    ['deletes the instance when the time is over', { kept: { until: ago(0) }, node: '-' }, FINISH],
    [
      'deletes the instance with the Node when the time ended before the Node was deleted',
      { kept: { until: ago(0) }, drain: DRAINED, node: BY_US },
      DELETE_NODE,
    ],
    [
      'MAC-40 waits also when its kubelet registers again with the start-up taint',
      { kept: {}, grant: '-', uid: 'node-2', node: 'starting', nodeAgeSeconds: 600 },
      WAIT_KEPT,
    ],
    [
      'MAC-40 asks for a grant to drain a kept machine whose kubelet registers again with its label',
      { kept: {}, grant: '-', uid: 'node-2', nodeAgeSeconds: 5, label: 'm' },
      'Ask: a deletion needs a grant',
    ],
    [
      'MAC-40 asks for a grant to drain a kept machine whose kubelet takes pods again',
      { kept: {}, grant: '-', uid: 'node-2', nodeAgeSeconds: 5 },
      'Ask: a deletion needs a grant',
    ],
    [
      'never touches a Node that is older than the keeping',
      { kept: { until: ago(0) }, uid: 'node-2', nodeAgeSeconds: 601 },
      FINISH,
    ],
    [
      'never touches a Node with the label of another machine while it is kept',
      { kept: { until: ago(0) }, uid: 'node-2', nodeAgeSeconds: 5, label: 'm-2' },
      FINISH,
    ],
    [
      'waits for a hold longer than the instance is kept',
      { kept: { until: ago(0) }, hold: 'All', node: '-' },
      'Wait HeldAll Machine/m: the machine is held',
    ],
  ])('%s', (_, input, want) => {
    expect(explain(input)).toBe(want);
  });

  it('continues with a grant that the ledger does not show yet', () => {
    const plan = planDeletion({ ...situation({ grant: '-' }), order: { id: 'g-2', fence: 2 } });
    expect(plan).toMatchObject({ type: 'Record', drain: { grant: 'g-2' } });
  });

  it.each<[string, Case]>([
    ['without a grant', { grant: '-' }],
    ['though it is held', { grant: '-', hold: 'All' }],
    ['though a grant to drain it is in work', { node: BY_US, drain: DRAINED }],
  ])('CAP-04 ends a Machine that follows another system %s, and leaves its Node', (_, input) => {
    const { machine: object, ...rest } = situation(input);
    const infra = { provider: 'clusterapi', config: {} } as const;
    const plan = planDeletion({ ...rest, machine: { ...object, spec: { ...object.spec, infra } } });
    expect(plan).toEqual({
      type: 'Finish',
      because: 'the instance and the Node belong to another system, which keeps or deletes them',
    });
  });

  it('knows the Node on its own instance', () => {
    const input = { instance: 'i-1', provider: 'i-1' };
    expect(ownNode(machineFor(input), nodeFor(input))?.metadata.name).toBe('m');
  });
});
