/** Simulates what people do to a cluster, and what befalls it: commits, holds, machines that come and go, agents that fall silent. */
import { MACHINE_COMPONENT_SETS, MACHINE_COMPONENTS, MACHINES } from '../../api/generated/resources.ts';
import type { Machine, MachineComponentSet } from '../../api/generated/types.ts';
import { GROUP } from '../../api/names.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { SimulatedApi } from '../api-server/simulated-api.ts';
import type { Random } from '../random.ts';
import { type Behavior, createHost, type SimulatedHost, type SimulatedVersion } from './hosts.ts';

export interface PeopleContext {
  readonly api: SimulatedApi;
  readonly random: Random;
  readonly nowMs: () => number;
  readonly hosts: Map<string, SimulatedHost>;
  /** The versions by name of the MachineComponent. */
  readonly versions: Map<string, SimulatedVersion>;
  /** Whether sets have a partition and a spread over racks. */
  readonly isLimited?: boolean;
}

export const SETS = ['general', 'extra'] as const;
const API_VERSION = `${GROUP}/v1alpha1`;
const MINUTE_MS = 60_000;
const RACKS = 3;
/** The limits of sets in a run with them: no random number is drawn, so that other runs stay the same. */
const LIMITS = { partition: 2, spread: { labelKey: 'rack', max: 1 } } as const;

export function createSets(context: PeopleContext): void {
  for (const [index, name] of SETS.entries()) {
    addVersion(context, name, () => 'Good');
    putSet(context, name, index);
  }
}

/** Adds a machine: machines join one after the other. */
export function addMachine({ api, hosts, nowMs, random, isLimited }: PeopleContext): void {
  const number = random.below(10_000);
  const name = `m-${hosts.size + api.list(MACHINES).length}-${number}`;
  const rack = optional('rack', isLimited ? `r${number % RACKS}` : undefined);
  const machine: Machine = {
    apiVersion: API_VERSION,
    kind: 'Machine',
    metadata: { name, labels: { pool: random.chance(0.5) ? 'a' : 'b', ...rack }, managedFields: [] },
    spec: {
      infra: { provider: 'local', config: {} },
      host: { type: 'systemd' },
      node: { labels: {}, annotations: {}, taints: [] },
      readinessGates: [],
      minReadySeconds: 0,
      components: [],
      agentEpoch: 0,
      deletion: { drain: 'Respect', drainTimeoutSeconds: 1800, timeoutSeconds: 7200, cleanup: 'Restore' },
    },
  };
  const { uid = '' } = api.put({ ...machine }).metadata;
  hosts.set(name, createHost(name, uid, nowMs()));
}

function specOf(random: Random, name: string, index: number): MachineComponentSet['spec'] {
  return {
    machineSelector: index === 0 ? { all: true } : { all: false, matchLabels: { pool: 'a' } },
    components: [{ name, componentRef: `${name}-1`, state: 'Present', parameters: {} }],
    paused: false,
    dryRun: false,
    rollout: {
      batches: [1, 2, 3],
      repeatLast: random.chance(0.7),
      maxUnavailable: random.chance(0.5) ? '30%' : 1 + random.below(3),
      preferUnhealthy: random.chance(0.5),
      partition: 0,
      newMachinePolicy: random.chance(0.5) ? 'Stable' : 'Target',
      gate: { soakSeconds: 120, checks: [], approval: random.chance(0.2) ? 'FirstBatch' : 'None' },
      failure: {
        maxFailed: random.below(3),
        per: 'Rollout',
        onFailure:
          random.pick(['Pause', 'RollbackFailed', 'RollbackBatch', 'RollbackAll'] as const) ?? 'Pause',
      },
      windows: [],
      freezes: [],
      machineTimeoutSeconds: 300,
      progressDeadlineSeconds: 7200,
    },
  };
}

/** Simulates what happens by chance. Called in each step of 5 seconds. */
export function befallCluster(context: PeopleContext): void {
  const { random, hosts, api } = context;
  if (random.chance(0.004)) addMachine(context);
  if (random.chance(0.003)) deleteMachine(context);
  if (random.chance(0.008)) interfere(context);
  const host = random.pick([...hosts.values()]);
  if (host) befallHost(host, context);
  approveRollouts(api);
}

function befallHost(host: SimulatedHost, { random, nowMs }: PeopleContext): void {
  if (random.chance(0.006)) host.silentUntilMs = nowMs() + random.below(10) * MINUTE_MS;
  if (random.chance(0.006)) host.notReadyUntilMs = nowMs() + random.below(6) * MINUTE_MS;
  const component = random.pick([...host.components.values()]);
  if (component?.installed && random.chance(0.003)) component.hasDrifted = true;
}

function deleteMachine({ api, random }: PeopleContext): void {
  const machines = api.list(MACHINES).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const machine = random.pick(machines);
  if (machine && machines.length > 5) api.delete(MACHINES, machine.metadata);
}

/** Makes one edit of a set or of a machine, which may come in the middle of a reconcile. */
export function interfere(context: PeopleContext): void {
  const { api, random } = context;
  if (random.chance(0.3)) {
    editMachine(context);
    return;
  }
  const name = random.pick(SETS) ?? 'general';
  const set = api.get(MACHINE_COMPONENT_SETS, name);
  if (set) editSet(context, set);
  else putSet(context, name, SETS.indexOf(name));
}

function putSet({ api, random, isLimited }: PeopleContext, name: string, index: number): void {
  const drawn = specOf(random, name, index);
  const spec = isLimited ? withRollout(drawn, LIMITS) : drawn;
  api.put({ apiVersion: API_VERSION, kind: 'MachineComponentSet', metadata: { name }, spec });
}

function editMachine({ api, random }: PeopleContext): void {
  const machine = random.pick(api.list(MACHINES));
  if (!machine) return;
  const { hold, ...spec } = machine.spec;
  const isHeld = hold === undefined && random.chance(0.5);
  const pool = machine.metadata.labels?.['pool'] === 'a' ? 'b' : 'a';
  const labels =
    hold === undefined && !isHeld ? { ...machine.metadata.labels, pool } : machine.metadata.labels;
  const next = isHeld ? { ...spec, hold: { reason: 'debugging', scope: 'All' } } : spec;
  api.put({ ...machine, metadata: { ...machine.metadata, ...optional('labels', labels) }, spec: next });
}

type Spec = MachineComponentSet['spec'];

const EDITS: readonly (readonly [
  weight: number,
  edit: (spec: Spec, context: PeopleContext, name: string) => Spec,
])[] = [
  [6, (spec, context, name) => withRef(spec, addVersion(context, name, drawBehavior(context.random)))],
  [
    3,
    (spec, { random, versions }, name) =>
      withRef(spec, random.pick([...versions.keys()].filter((ref) => ref.startsWith(name))) ?? ''),
  ],
  [1, (spec, _, name) => withRef(spec, `${name}-missing`)],
  [3, (spec) => ({ ...spec, paused: !spec.paused })],
  [2, (spec, { random }) => ({ ...spec, retryToken: `again-${random.below(1000)}` })],
  [
    2,
    (spec, { random }) =>
      withRollout(spec, { maxUnavailable: random.chance(0.5) ? '50%' : 1 + random.below(2) }),
  ],
  [
    1,
    (spec, { random }) => withRollout(spec, { newMachinePolicy: random.chance(0.5) ? 'Stable' : 'Target' }),
  ],
  [
    1,
    (spec) => ({
      ...spec,
      machineSelector: spec.machineSelector.all ? { all: false, matchLabels: { pool: 'a' } } : { all: true },
    }),
  ],
];

function editSet(context: PeopleContext, set: MachineComponentSet): void {
  const { api, random } = context;
  const { name } = set.metadata;
  if (random.chance(0.03)) {
    api.delete(MACHINE_COMPONENT_SETS, { name });
    return;
  }
  const all = EDITS.flatMap(([weight, edit]) => Array.from({ length: weight }, () => edit));
  const edit = random.pick(all);
  if (edit) api.put({ ...set, spec: edit(set.spec, context, name) });
}

function withRef(spec: Spec, componentRef: string): Spec {
  return { ...spec, components: spec.components.map((each) => ({ ...each, componentRef })) };
}

function withRollout(spec: Spec, rollout: Partial<Spec['rollout']>): Spec {
  return { ...spec, rollout: { ...spec.rollout, ...rollout } };
}

/** Draws the behavior of a version: good, or bad on every machine or on some. */
function drawBehavior(random: Random): SimulatedVersion['behaviorOn'] {
  if (random.chance(0.6)) return () => 'Good';
  const behavior = random.pick<Behavior>(['Fails', 'Fails', 'Hangs', 'Late']) ?? 'Fails';
  const share = random.pick([10, 3, 10]) ?? 10;
  const salt = random.below(10);
  return (machine) => ((Number(machine.split('-')[2]) + salt) % 10 < share ? behavior : 'Good');
}

/** Adds a version, and returns its name. */
function addVersion(
  { api, versions, random }: PeopleContext,
  name: string,
  behaviorOn: SimulatedVersion['behaviorOn'],
): string {
  const version = String([...versions.keys()].filter((ref) => ref.startsWith(name)).length + 1);
  const needsDrain = random.chance(0.4);
  const ref = `${name}-${version}`;
  versions.set(ref, { behaviorOn, needsDrain });
  api.put({
    apiVersion: API_VERSION,
    kind: MACHINE_COMPONENTS.kind,
    metadata: { name: ref },
    spec: {
      component: name,
      version,
      identity: 'None',
      parameters: [],
      ports: [],
      artifacts: [],
      files: [{ path: '/etc/app', content: version, onChange: needsDrain ? 'Drain' : 'Restart', units: [] }],
      units: [{ name, type: 'Process', running: true }],
      probes: [],
      activation: { class: needsDrain ? 'Drain' : 'Restart' },
      dependsOn: [],
    },
  });
  return ref;
}

/** Approves the rollouts that wait for people, who look at them now and then. */
export function approveRollouts(api: SimulatedApi): void {
  for (const set of api.list(MACHINE_COMPONENT_SETS)) {
    const revision = revisionToApprove(set);
    if (revision === undefined) continue;
    const approved = { revision, throughBatch: 99 };
    api.put({ ...set, spec: withRollout(set.spec, { approved }) });
  }
}

function revisionToApprove({ status, spec }: MachineComponentSet): string | undefined {
  const { updateRevision, waiting } = status ?? {};
  if (waiting?.reason !== 'ApprovalRequired') return undefined;
  return spec.rollout.approved?.revision === updateRevision ? undefined : updateRevision;
}

/** Ends what disturbs the cluster: nothing is paused, held or silent any more. */
export function calmDown({ api, hosts }: PeopleContext): void {
  for (const machine of api.list(MACHINES)) {
    const { hold: _, ...spec } = machine.spec;
    api.put({ ...machine, spec });
  }
  for (const set of api.list(MACHINE_COMPONENT_SETS)) {
    api.put({ ...set, spec: { ...set.spec, paused: false } });
  }
  for (const host of hosts.values()) Object.assign(host, { silentUntilMs: 0, notReadyUntilMs: 0 });
}
