/**
 * Computes what is true in a simulated cluster, for the history that the judge reads: from its objects and its hosts, and not from any
 * status.
 */
import { MACHINE_COMPONENTS } from '../../api/generated/resources.ts';
import type { Machine, MachineComponentEntry, MachineComponentSet } from '../../api/generated/types.ts';
import { entryDigest } from '../../api/machine/entry-content.ts';
import { hasStartupTaint, isCordoned, isFaultStatus, readinessOf } from '../../api/machine/node-state.ts';
import { ANNOTATION_CORDONED_BY } from '../../api/names.ts';
import { createFindVersion } from '../../controllers/componentset/observe/component-versions.ts';
import { resolveRevision } from '../../controllers/componentset/revision/resolve.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import { listAt, textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import { isSelected } from '../../kube/objects/selector.ts';
import { resolveIntOrPercent } from '../../rollout/int-or-percent.ts';
import type { SimulatedApi } from '../api-server/simulated-api.ts';
import type { DesiredSet, MachineTruth, StartedUpdate } from './history.ts';
import { hostState, isSilentHost, type SimulatedHost } from './hosts.ts';

export interface SimulatedCluster {
  readonly api: SimulatedApi;
  readonly nowMs: () => number;
  readonly hosts: ReadonlyMap<string, SimulatedHost>;
}

/** The number of batches without a limit: more than a rollout has. */
const UNLIMITED = 1000;

export function desiredSet(
  { spec, metadata: { name } }: MachineComponentSet,
  machines: readonly Machine[],
  api: SimulatedApi,
): DesiredSet {
  const { rollout, components } = spec;
  const members = machines.filter((machine) => isMember(machine, spec)).length;
  const find = createFindVersion({ get: (ref) => api.get(MACHINE_COMPONENTS, ref) });
  const resolved = resolveRevision(components, find);
  const revision = 'revision' in resolved ? resolved.revision.name : undefined;
  const isApproved = rollout.gate.approval === 'None' || rollout.approved?.revision === revision;
  return {
    set: name,
    exists: true,
    paused: spec.paused,
    ...optional('revision', revision),
    ...optional('retryToken', spec.retryToken),
    maxUnavailable: resolveIntOrPercent(rollout.maxUnavailable, members),
    maxFailed: resolveIntOrPercent(rollout.failure.maxFailed, members),
    soakMs: rollout.gate.soakSeconds * 1000,
    timeoutMs: rollout.machineTimeoutSeconds * 1000,
    maxBatch: isApproved ? UNLIMITED : 0,
    ...limitsOf(rollout, members),
  };
}

function limitsOf(
  { partition, spread }: MachineComponentSet['spec']['rollout'],
  members: number,
): Pick<DesiredSet, 'kept' | 'maxOfDomain'> {
  const kept = resolveIntOrPercent(partition, members);
  return {
    ...optional('kept', kept > 0 ? kept : undefined),
    ...optional('maxOfDomain', spread && resolveIntOrPercent(spread.max, members)),
  };
}

function isMember({ metadata }: Machine, { machineSelector }: MachineComponentSet['spec']): boolean {
  return metadata.deletionTimestamp === undefined && isSelected(machineSelector, metadata.labels ?? {});
}

export function machineTruth(
  machine: Machine,
  sets: readonly MachineComponentSet[],
  { api, hosts, nowMs }: SimulatedCluster,
): MachineTruth {
  const { name, uid = '', deletionTimestamp } = machine.metadata;
  const host = hosts.get(name);
  const node = api.get(NODES, name);
  const isSilent = host?.uid !== uid || isSilentHost(host, nowMs());
  const nodeServes = isHealthyNode(node) && !isCordoned(node);
  return {
    machine: name,
    uid,
    exists: deletionTimestamp === undefined,
    sets: sets.filter(({ spec }) => isMember(machine, spec)).map(({ metadata }) => metadata.name),
    serves: !isSilent && nodeServes,
    isSilent,
    nodeServes,
    isHealthy: !isSilent && isHealthyNode(node),
    isCordonedByPerson: isCordoned(node) && !hasMark(node),
    isFaulty: hasFault(node),
    isHeld: machine.spec.hold !== undefined,
    ...rackOf(machine),
  };
}

function rackOf({ metadata: { labels = {} } }: Machine): Pick<MachineTruth, 'rack'> {
  return optional('rack', labels['rack']);
}

/** Tells whether the Node has the mark of the grant that it is cordoned for. */
function hasMark(node: KubeObject | undefined): boolean {
  return node?.metadata.annotations?.[ANNOTATION_CORDONED_BY] !== undefined;
}

function isHealthyNode(node: KubeObject | undefined): boolean {
  return node !== undefined && !hasStartupTaint(node) && readinessOf(node) === 'Ready';
}

function hasFault(node: KubeObject | undefined): boolean {
  return listAt(node, 'status', 'conditions').some((each) => {
    const type = textAt(each, 'type') ?? '';
    return type !== 'Ready' && isFaultStatus(type, textAt(each, 'status'));
  });
}

/** Returns the update that a write starts. Undefined: the write changes nothing that the host would act on. */
export function startedUpdate(
  machine: string,
  before: MachineComponentEntry | undefined,
  entry: MachineComponentEntry,
  host: SimulatedHost | undefined,
): StartedUpdate | undefined {
  const { set, revision = '', batch } = entry.assignment ?? {};
  if (set === undefined || isKept(before, entry)) return undefined;
  const isSame = before !== undefined && isSameUpdate(before, entry);
  const kind = isSame ? restartKind(entry, host) : updateKind(entry, host);
  const grant = optional('grant', entry.grant?.id);
  return { machine, set, revision, ...optional('batch', batch), ...grant, kind };
}

function isKept(before: MachineComponentEntry | undefined, entry: MachineComponentEntry): boolean {
  if (before === undefined || !isSameUpdate(before, entry)) return false;
  return entry.grant === undefined || entry.grant.id === before.grant?.id;
}

function isSameUpdate(a: MachineComponentEntry, b: MachineComponentEntry): boolean {
  return entryDigest(a) === entryDigest(b) && a.assignment?.retryToken === b.assignment?.retryToken;
}

function restartKind(
  { name }: MachineComponentEntry,
  host: SimulatedHost | undefined,
): StartedUpdate['kind'] {
  return host?.components.get(name)?.hasDrifted === true ? 'Restart' : 'None';
}

/** Returns the kind of an update: the host may have that content already. */
function updateKind(entry: MachineComponentEntry, host: SimulatedHost | undefined): StartedUpdate['kind'] {
  return host && hostState(host, entry) === 'Committed' ? 'None' : 'Update';
}

/** Tells whether the update of the host never ends, or a version broke its Node: the machine stays out of service until a person acts. */
export function isHung(host: SimulatedHost | undefined): boolean {
  if (!host) return false;
  return !host.isReady || [...host.components.values()].some(({ work }) => work !== undefined);
}
