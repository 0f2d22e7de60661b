/** A MachineSet and its machines, written as words: `members(set, 'ready new ill')`. */
import type { Machine, MachineSet } from '../../src/api/generated/types.ts';
import type { SetMachine } from '../../src/controllers/machineset/members.ts';
import { machineName } from '../../src/controllers/machineset/names.ts';
import { ownerReference } from '../../src/controllers/machineset/ownership.ts';
import { planMachineSet } from '../../src/controllers/machineset/plan.ts';
import { requeueAt } from '../../src/controllers/machineset/requeue.ts';
import { type DeniedDeletion, machineSetStatus } from '../../src/controllers/machineset/status.ts';
import type { Metadata } from '../../src/kube/objects/object.ts';
import { ago, condition, type MachineParts, machine, NOW, node } from './builders.ts';

export interface SetParts {
  readonly metadata?: Partial<Metadata>;
  readonly spec?: Partial<MachineSet['spec']>;
  readonly status?: Partial<NonNullable<MachineSet['status']>>;
}

const STORM: MachineSet['spec']['stormGuard'] = {
  maxUnhealthy: '40%',
  maxUnhealthyInZone: '25%',
  thawSeconds: 300,
  overshoot: 2,
};

/** However ill the machines are, there is no storm. */
export const NO_STORM: MachineSet['spec']['stormGuard'] = {
  ...STORM,
  maxUnhealthy: '100%',
  maxUnhealthyInZone: '100%',
};

export function machineSet(replicas: number, { metadata, spec, status }: SetParts = {}): MachineSet {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'MachineSet',
    metadata: { name: 'general', uid: 'set-1', generation: 1, ...metadata },
    spec: {
      replicas,
      template: template(),
      zones: [],
      minReadySeconds: 0,
      updateStrategy: { type: 'InPlace', maxUnavailable: 1 },
      deletionOrder: 'Oldest',
      stormGuard: STORM,
      startupTimeoutSeconds: 600,
      paused: false,
      ...spec,
    },
    ...(status ? { status: { conditions: [], ...status } } : {}),
  };
}

export function template(
  parts: Partial<MachineSet['spec']['template']> = {},
): MachineSet['spec']['template'] {
  return {
    labels: { pool: 'general' },
    infra: { provider: 'local', config: {} },
    host: { type: 'sandbox' },
    node: { labels: { pool: 'general' }, taints: [] },
    deletion: { drain: 'Respect', drainTimeoutSeconds: 1800, timeoutSeconds: 7200, cleanup: 'Restore' },
    ...parts,
  };
}

interface Word extends MachineParts {
  /** A Node with the start-up taint, one without it, or none. */
  readonly node?: 'Starting' | 'Established';
}

const NODE = { uid: 'node-1' };
const ESTABLISHED = { ...NODE, establishedAt: ago(86_400) };
const NOT_READY = { conditions: [condition('Ready', 'False')] };

function serving(seconds: number): Word {
  const since = { lastTransitionTime: ago(seconds) };
  const types = ['Ready', 'AgentReady', 'NodeReady'];
  return {
    node: 'Established',
    status: { node: NODE, conditions: types.map((type) => condition(type, 'True', since)) },
  };
}

const WORDS = {
  ready: serving(3600),
  /** Ready again for 100 seconds. */
  recovered: serving(100),
  /** Its Node does not answer. */
  ill: {
    node: 'Established',
    status: {
      node: NODE,
      conditions: [condition('AgentReady', 'True'), condition('NodeReady', 'Unknown')],
    },
  },
  /** Its Node was deleted. */
  nodeless: { status: { node: NODE, conditions: [] } },
  /** Created a second ago. */
  new: { metadata: { creationTimestamp: ago(1) }, status: NOT_READY },
  starting: { metadata: { creationTimestamp: ago(100) }, status: NOT_READY, node: 'Starting' },
  /** Not Ready after its time to start. */
  late: { metadata: { creationTimestamp: ago(601) }, status: NOT_READY, node: 'Starting' },
  /** It served for a day: its Node was deleted, and has registered again. */
  registered: {
    metadata: { creationTimestamp: ago(90_000) },
    status: { ...NOT_READY, node: ESTABLISHED },
    node: 'Starting',
  },
  /** As late, and held. */
  stuck: {
    metadata: { creationTimestamp: ago(601) },
    status: NOT_READY,
    node: 'Starting',
    spec: { hold: { reason: 'debugging', scope: 'Disruptive' } },
  },
  leaving: { ...serving(3600), metadata: { deletionTimestamp: ago(5) } },
  /** It was drained for its deletion, and only its instance is kept. */
  kept: {
    metadata: { deletionTimestamp: ago(500) },
    status: { node: ESTABLISHED, kept: { job: 'j', since: ago(400), until: ago(-400), max: 3 } },
  },
  held: { ...serving(3600), spec: { hold: { reason: 'debugging', scope: 'Disruptive' } } },
  frozen: { ...serving(3600), spec: { hold: { reason: 'forensics', scope: 'All' } } },
} satisfies Record<string, Word>;

export type MemberWord = keyof typeof WORDS;

/** Machines of the set, named by their index; the first one is the oldest. */
export function members(set: MachineSet, words: string, parts: MachineParts = {}): readonly SetMachine[] {
  const list = words.split(/\s+/).filter(Boolean) as MemberWord[];
  return list.map((word, index) => member(set, { word, index, age: list.length - index }, parts));
}

interface MemberPlace {
  readonly word: MemberWord;
  readonly index: number;
  readonly age: number;
}

export function member(
  set: MachineSet,
  { word, index, age }: MemberPlace,
  { metadata, spec, status }: MachineParts = {},
): SetMachine {
  const found: Word = WORDS[word];
  const name = machineName(set.metadata, index);
  const { infra, host, node: nodeSpec, deletion, labels } = set.spec.template;
  const base: Partial<Machine['spec']> = { infra, host, node: nodeSpec, deletion, components: [] };
  const kubenode = { 'kubenode.dev/machineset': 'general', 'app.kubernetes.io/managed-by': 'kubenode' };
  const taints = [{ key: 'kubenode.dev/not-initialized', effect: 'NoSchedule' }];
  return {
    machine: machine(name, {
      metadata: {
        creationTimestamp: ago(7200 + age),
        labels: { ...labels, ...kubenode },
        ownerReferences: [ownerReference(set)],
        ...found.metadata,
        ...metadata,
      },
      spec: { ...base, ...found.spec, ...spec },
      status: { ...found.status, ...status },
    }),
    node: found.node && { ...node(name), spec: found.node === 'Starting' ? { taints } : {} },
  };
}

/** The plan of a set, with the index of each machine in place of its name. */
export function explainPlan(set: MachineSet, machines: readonly SetMachine[]): string {
  const { actions, wait, isFinished } = planMachineSet({ set, machines, now: NOW });
  const parts = actions
    .map((action) => ({ ...action, index: indexOf(action.name) }))
    .toSorted((a, b) => a.index - b.index)
    .map(({ type: verb, name, because }) => `${verb} ${name}: ${because}`);
  const blocker = wait?.blocker ? ` ${wait.blocker.kind}/${wait.blocker.name}` : '';
  if (wait) parts.push(`wait ${wait.reason}${blocker}: ${wait.message}`);
  if (isFinished) parts.push('finished');
  return parts.join('; ').replaceAll(/general-[0-9a-f]{8}/g, (name) => `#${indexOf(name)}`);
}

function indexOf(name: string): number {
  return Array.from({ length: 300 }, (_, index) =>
    machineName({ name: 'general', uid: 'set-1' }, index),
  ).indexOf(name);
}

export const DENIAL: DeniedDeletion = {
  machine: 'general-x',
  reason: 'KillSwitch',
  message: 'the kill switch is engaged',
  retryAt: new Date(NOW.getTime() + 10_000),
};

export interface SetCase {
  readonly replicas?: number;
  readonly machines: string;
  /** Further machines, of the template of `parts`. */
  readonly extra?: string;
  readonly machineStatus?: NonNullable<MachineParts['status']>;
  readonly parts?: SetParts;
  readonly denials?: readonly DeniedDeletion[];
}

export interface ReportedSet {
  readonly status: NonNullable<MachineSet['status']>;
  readonly at: Date | undefined;
}

export function statusOf({
  replicas = 2,
  machines,
  extra = '',
  machineStatus = {},
  parts = {},
  denials = [],
}: SetCase): ReportedSet {
  const set = machineSet(replicas, parts);
  const first = members(machineSet(replicas), machines, { status: machineStatus });
  const further = (extra.split(' ').filter(Boolean) as MemberWord[]).map((word, index) =>
    member(set, { word, index: first.length + index, age: 0 }),
  );
  const observed = [...first, ...further];
  const plan = planMachineSet({ set, machines: observed, now: NOW });
  const input = { set, plan, denials, now: NOW };
  const status = machineSetStatus(input);
  return { status, at: requeueAt(input, status) };
}
