/**
 * Simulates what befalls the hosts of a cluster that repairs, and what people do meanwhile: faults, dark zones, cordons, cancelled jobs,
 * Nodes that are replaced.
 */
import { MACHINES, REMEDY_OPERATION_JOBS } from '../../../api/generated/resources.ts';
import type { Machine } from '../../../api/generated/types.ts';
import { ANNOTATION_CORDONED_BY } from '../../../api/names.ts';
import type { Condition } from '../../../kube/objects/conditions.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import { listAt, textAt, valueAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { isSilentHost, type SimulatedHost } from '../hosts.ts';
import { announceMaintenance, endMaintenance } from './maintenance.ts';
import { DEAD, FAULTS, type SimulatedFault, simulatedRemediers, withSwitches } from './remediers.ts';
import { type Illness, patientOf, type RepairsContext } from './sick-machine.ts';
import { isUnschedulable } from './unschedulable.ts';

const MINUTE_MS = 60_000;
const DETECTOR = 'detector';

export function createRules({ api, power }: Pick<RepairsContext, 'api' | 'power'>): void {
  for (const remedier of simulatedRemediers()) {
    if (power) api.put(withSwitches(remedier));
    else if (remedier.metadata.name !== DEAD) api.put(remedier);
  }
}

/** Simulates what happens by chance. Called in each step of 5 seconds. */
export function befallRepairs(context: RepairsContext): void {
  const { random, hosts } = context;
  const host = random.pick([...hosts.values()]);
  if (host && random.chance(0.02)) fallIll(host, context);
  if (random.chance(0.0008)) darken(context);
  if (context.power) killKernel(context, context.power);
  announceMaintenance(context);
  actAsPerson(context);
}

function killKernel({ random, hosts }: RepairsContext, power: NonNullable<RepairsContext['power']>): void {
  if (!random.chance(0.004)) return;
  const host = random.pick([...hosts.values()]);
  if (host) power.die(host);
}

function fallIll(host: SimulatedHost, context: RepairsContext): void {
  const { random, nowMs } = context;
  const patient = patientOf(context, host.name, host.uid);
  const cure =
    random.pick<Illness['cure']>(['RestartService', 'Reboot', 'Alone', 'Alone', 'Person']) ?? 'Alone';
  const fault: SimulatedFault = random.chance(0.7) ? 'hung' : 'network';
  const minutes = cure === 'Alone' ? 1 + random.below(5) : 60;
  patient.illness ??= { fault, cure, endsMs: nowMs() + minutes * MINUTE_MS };
}

/** Darkens the cluster: half of the hosts are cut off, and their Nodes are not Ready. */
function darken({ hosts, random, nowMs }: RepairsContext): void {
  const untilMs = nowMs() + (1 + random.below(8)) * MINUTE_MS;
  for (const [index, host] of [...hosts.values()].entries()) {
    if (index % 2 === 0) Object.assign(host, { silentUntilMs: untilMs, notReadyUntilMs: untilMs });
  }
}

const ACTS: readonly (readonly [chance: number, act: (context: RepairsContext) => void])[] = [
  [0.002, cordonNode],
  [0.004, uncordonNode],
  [0.0015, replaceNode],
  [0.002, cancelJob],
  [0.001, deleteJob],
];

function actAsPerson(context: RepairsContext): void {
  const { random } = context;
  for (const [chance, act] of ACTS) if (random.chance(chance)) act(context);
}

function cordonNode(context: RepairsContext): void {
  const { api, random } = context;
  const node = random.pick(api.list(NODES).filter((each) => !isUnschedulable(each)));
  if (node) writeNode(node, true, context);
}

/** Uncordons a Node as a person does, even one that we have cordoned, in the middle of a drain. */
function uncordonNode(context: RepairsContext): void {
  const { api, random } = context;
  const node = random.pick(api.list(NODES).filter(isUnschedulable));
  if (node) writeNode(node, false, context);
}

function writeNode(node: KubeObject, unschedulable: boolean, { api, judge }: RepairsContext): void {
  const { unschedulable: _, ...spec } = (valueAt(node, 'spec') ?? {}) as Record<string, unknown>;
  judge.byPerson(() => api.put({ ...node, spec: unschedulable ? { ...spec, unschedulable } : spec }));
}

/** Replaces a Node: its kubelet registers again, with another UID. */
function replaceNode({ api, random }: RepairsContext): void {
  const node = random.pick(api.list(NODES));
  if (node) api.delete(NODES, node.metadata);
}

function cancelJob({ api, random }: RepairsContext): void {
  const job = random.pick(api.list(REMEDY_OPERATION_JOBS).filter(({ status }) => !status?.outcome));
  if (job) api.put({ ...job, spec: { ...job.spec, cancel: { by: 'a person', reason: 'wait' } } });
}

function deleteJob({ api, random }: RepairsContext): void {
  const job = random.pick(api.list(REMEDY_OPERATION_JOBS).filter(({ status }) => !status?.outcome));
  if (job) api.delete(REMEDY_OPERATION_JOBS, job.metadata);
}

function isKubeletUp({ isDown, notReadyUntilMs }: SimulatedHost, nowMs: number): boolean {
  return !isDown && nowMs >= notReadyUntilMs;
}

/** Reports what the detectors of the host find. A host that is cut off reports nothing new. */
export function stepFaults(host: SimulatedHost, context: RepairsContext): void {
  const { api, nowMs } = context;
  const machine = api.get(MACHINES, host.name);
  if (machine?.metadata.uid !== host.uid) return;
  const patient = patientOf(context, host.name, host.uid);
  if (patient.illness && nowMs() >= patient.illness.endsMs) patient.illness = undefined;
  const isIll = (fault: SimulatedFault): boolean => patient.illness?.fault === fault;
  if (!isSilentHost(host, nowMs())) reportOnMachine(machine, isIll('hung'), context);
  const node = api.get(NODES, host.name);
  if (node && isKubeletUp(host, nowMs())) reportOnNode(node, isIll('network'), context);
}

function reportOnMachine(machine: Machine, isIll: boolean, { api, nowMs }: RepairsContext): void {
  const found = machine.status?.conditions?.find(({ type }) => type === FAULTS.hung);
  if (found?.status === statusOf(isIll)) return;
  const { apiVersion, kind, metadata } = machine;
  const conditions = [conditionOf(FAULTS.hung, isIll, nowMs())];
  api.apply(
    { apiVersion, kind, metadata: { name: metadata.name }, status: { conditions } },
    { manager: DETECTOR, subresource: 'status', force: true },
  );
}

function isOfNetwork(condition: unknown): boolean {
  return textAt(condition, 'type') === FAULTS.network;
}

function reportOnNode(node: KubeObject, isIll: boolean, { api, nowMs }: RepairsContext): void {
  const conditions = listAt(node, 'status', 'conditions');
  const found = conditions.find(isOfNetwork);
  if (found !== undefined && textAt(found, 'status') === statusOf(isIll)) return;
  const others = conditions.filter((each) => !isOfNetwork(each));
  const condition = conditionOf(FAULTS.network, isIll, nowMs());
  const status = { ...(valueAt(node, 'status') as object), conditions: [...others, condition] };
  api.put({ ...node, status });
}

function conditionOf(type: string, isIll: boolean, nowMs: number): Condition {
  const reason = isIll ? 'Found' : 'NotFound';
  return {
    type,
    status: statusOf(isIll),
    reason,
    message: '',
    lastTransitionTime: new Date(nowMs).toISOString(),
  };
}

function statusOf(isIll: boolean): 'True' | 'False' {
  return isIll ? 'True' : 'False';
}

/** Ends all faults: nothing is ill any more, and no rule finds a new fault. */
export function calmRepairs({ patients, api, power }: RepairsContext): void {
  power?.calm();
  for (const patient of patients.values()) patient.illness = undefined;
  endMaintenance({ api });
}

/**
 * Lets people look at what was handed to them: a Node that is cordoned, and not by a job or an update any more; and one whose drain waits
 * because a person has uncordoned it.
 */
export function lookAfterNodes(context: RepairsContext): void {
  for (const node of context.api.list(NODES)) {
    if (!isUnschedulable(node)) answerDrain(node, context);
    else if (isLeftCordoned(node, context)) writeNode(node, false, context);
  }
}

function isLeftCordoned(node: KubeObject, { judge }: RepairsContext): boolean {
  return node.metadata.annotations?.[ANNOTATION_CORDONED_BY] === undefined && judge.isOfPerson(node);
}

function answerDrain(node: KubeObject, context: RepairsContext): void {
  const { waiting } = context.api.get(MACHINES, node.metadata.name)?.status ?? {};
  if (waiting?.reason === 'UncordonedByPerson') writeNode(node, true, context);
}
