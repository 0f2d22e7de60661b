/** Decides whether components cover a change of the version and of the files of Cluster API, on each machine that it is about. Pure. */
import type { Machine } from '../../../../api/generated/types.ts';
import type { EntryContent } from '../../../../api/machine/entry-content.ts';
import { LABEL_AGENT_BLOCKED } from '../../../../api/names.ts';
import type { JsonPatchOperation } from '../../../../kube/controller/writes/declared-fields.ts';
import { canonicalJson } from '../../../../kube/objects/digest.ts';
import { ownValue } from '../../../../kube/objects/json.ts';
import type { CoveredFields } from './answers.ts';
import { bootstrapFiles, filesIn } from './files/kubeadm-files.ts';
import { type DesiredBootstrap, joinOrders, orderAfter, type UpdateOrder } from './files/order.ts';
import { filesPatch } from './files/patch.ts';
import { changedPaths, fileDigests } from './files/record.ts';
import { createFindTargets, type FindTargets } from './files/shared-targets.ts';
import {
  isPresent,
  machinesAskedAbout,
  noRecordReason,
  pinnedReason,
  recordIn,
  type UpdateFacts,
  updateHoldReason,
} from './machines.ts';
import { isPinOfAnother } from './owner.ts';
import type { AskedObject, Question } from './protocol.ts';

/**
 * Covered: kubenode updates these fields in place, and nothing else changes. Uncovered: Cluster API replaces. Undecided: it asks again, and
 * replaces nothing until then.
 */
export type CoverDecision = { readonly because: string } & (
  | ({ readonly type: 'Covered' } & CoveredFields)
  | { readonly type: 'Uncovered' | 'Undecided' }
);

/** Decides for one Machine, or for all Machines of a MachineSet: one that is not covered leaves all of them to Cluster API. */
export function planCover({ current, desired }: Question, facts: UpdateFacts): CoverDecision {
  const request = requestOrder(current, desired);
  if (typeof request === 'string') return { type: 'Uncovered', because: request };
  const machines = machinesAskedAbout(current, facts.machines);
  if (machines.length === 0 || machines.length < current.replicas) {
    const because = `${machines.length} of ${current.replicas} Machines of ${current.namespace}/${current.name} have a Machine of kubenode`;
    return { type: 'Uncovered', because };
  }
  const bootstrap = desiredBootstrap(desired);
  const find = createFindTargets(bootstrap?.files ?? new Map(), facts.rules);
  const uncovered = firstReason(machines, (each) => {
    const order = machineOrder(each, request, bootstrap);
    return agentReason(each) ?? (typeof order === 'string' ? order : targetReason(each, order, find, facts));
  });
  if (uncovered !== undefined) return { type: 'Uncovered', because: uncovered };
  // Without a patch Cluster API would delete a machine that a person keeps.
  const held = firstReason(machines, (each) => updateHoldReason(each, facts));
  if (held !== undefined) return { type: 'Undecided', because: held };
  const { version, operations } = request;
  return { type: 'Covered', version, files: operations, because: coveredText(request) };
}

/** Holds what the request itself changes. */
interface RequestOrder extends UpdateOrder {
  readonly operations: readonly JsonPatchOperation[];
}

/** Returns why the change is not covered, whatever the machines are. */
function requestOrder(current: AskedObject, desired: AskedObject): RequestOrder | string {
  const others = changedNames(current.others, desired.others);
  if (others.length > 0) return `no component covers ${others.join(', ')}`;
  const count = Math.max(...[current, desired].map(({ bootstrap }) => filesIn(bootstrap).length));
  if (count > MAX_FILES) return `the KubeadmConfig has ${count} files, and at most ${MAX_FILES} are compared`;
  const root = current.selector ? '/spec/template/spec' : '/spec';
  const operations = filesPatch(current.bootstrap, desired.bootstrap, root);
  const version = changedVersion(current, desired);
  if (version === NO_VERSION || (version === undefined && operations.length === 0)) {
    return 'spec.version does not change, and no component covers another field';
  }
  const before = fileDigests(bootstrapFiles(current.bootstrap));
  const paths = changedPaths({ files: before }, fileDigests(bootstrapFiles(desired.bootstrap)));
  return { version, paths, operations };
}

/** As many as v1beta2 permits. Comparing them takes time that grows with the square. */
const MAX_FILES = 200;
/** No component is of it. */
const NO_VERSION = '';

/** Undefined: it does not change. */
function changedVersion(
  { version: before }: AskedObject,
  { version: after }: AskedObject,
): string | undefined {
  if (before === after) return undefined;
  return before === undefined ? NO_VERSION : (after ?? NO_VERSION);
}

type Fields = AskedObject['others'];

function changedNames(before: Fields = {}, after: Fields = {}): readonly string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.filter((name) => fieldText(before, name) !== fieldText(after, name));
}

function fieldText(fields: NonNullable<Fields>, name: string): string {
  return canonicalJson(ownValue(fields, name) ?? null);
}

function coveredText({ version, paths, operations }: RequestOrder): string {
  const files = operations.length > 0 && paths.length === 0 ? ['the order of files'] : paths;
  if (files.length === 0) return `a component covers version ${version} on each machine`;
  const all = [...(version === undefined ? [] : [`version ${version}`]), ...files];
  return `components cover ${all.join(', ')} on each machine`;
}

/** Undefined: there is no KubeadmConfig. */
function desiredBootstrap({ version, bootstrap }: AskedObject): DesiredBootstrap | undefined {
  return bootstrap === undefined ? undefined : { version, files: bootstrapFiles(bootstrap) };
}

function firstReason(
  machines: readonly Machine[],
  reasonOf: (machine: Machine) => string | undefined,
): string | undefined {
  for (const machine of machines) {
    const reason = reasonOf(machine);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function targetReason(
  machine: Machine,
  order: UpdateOrder,
  find: FindTargets,
  facts: UpdateFacts,
): string | undefined {
  const entries = find(machine, order);
  if (typeof entries === 'string') return entries;
  const reasons = entries.map((entry) => entryReason(machine, entry, facts));
  return reasons.find((reason) => reason !== undefined);
}

function agentReason({ metadata: { name, labels = {} }, status }: Machine): string | undefined {
  if (status?.agent === undefined) return `${name} has no agent`;
  return labels[LABEL_AGENT_BLOCKED] === undefined ? undefined : `the agent of ${name} is blocked`;
}

/** Returns the request, and what an earlier update of the machine has not done yet. */
function machineOrder(
  machine: Machine,
  request: UpdateOrder,
  desired: DesiredBootstrap | undefined,
): UpdateOrder | string {
  const record = recordIn(machine);
  if (!record) return request.paths.length > 0 ? noRecordReason(machine) : request;
  return desired ? joinOrders(request, orderAfter(record, desired)) : request;
}

function entryReason(
  machine: Machine,
  entry: EntryContent,
  { nodeOf, rules }: UpdateFacts,
): string | undefined {
  if (isPresent(machine, entry)) return undefined;
  if (isPinOfAnother(machine, entry.name)) return pinnedReason(machine, entry);
  return rules.forbiddenReason(machine, nodeOf(machine.metadata.name), entry);
}
