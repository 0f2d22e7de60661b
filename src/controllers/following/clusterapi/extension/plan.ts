/**
 * Decides what the update extension answers: whether a change of the version of Cluster API is covered by a component, and how far the update
 * of one machine is. Pure.
 */
import type { Machine } from '../../../../api/generated/types.ts';
import { type EntryContent, entryDigest } from '../../../../api/machine/entry-content.ts';
import { isObserved, reportOf } from '../../../../api/machine/entry-report.ts';
import { LABEL_AGENT_BLOCKED } from '../../../../api/names.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import { isSelected } from '../../../../kube/objects/selector.ts';
import { followedObject } from '../../../../providers/followed.ts';
import { entryProgress } from '../../../../rollout/entry-progress.ts';
import { holdInForce } from '../../../../rollout/holds.ts';
import { type EntryRules, kubeletEntry } from './kubelet-version.ts';
import { isPinOfAnother } from './owner.ts';
import type { AskedObject, OnFailure, Question } from './protocol.ts';

/** The machines and Nodes of kubenode, and what component sets decide. */
export interface UpdateFacts {
  readonly machines: readonly Machine[];
  readonly nodeOf: (name: string) => KubeObject | undefined;
  readonly rules: EntryRules;
  readonly now: Date;
}

/**
 * Covered: kubenode updates to `version` in place. Uncovered: Cluster API replaces. Undecided: it asks again, and replaces nothing until then.
 */
export type CoverDecision = { readonly because: string } & (
  | { readonly type: 'Covered'; readonly version: string }
  | { readonly type: 'Uncovered' | 'Undecided' }
);

/** Decides for one Machine, or for all Machines of a MachineSet: one that is not covered leaves all of them to Cluster API. */
export function planCover({ current, desired }: Question, facts: UpdateFacts): CoverDecision {
  const { version } = desired;
  if (version === undefined || current.version === undefined || version === current.version) {
    return {
      type: 'Uncovered',
      because: 'spec.version does not change, and no component covers another field',
    };
  }
  const machines = machinesAskedAbout(current, facts.machines);
  if (machines.length === 0 || machines.length < current.replicas) {
    const because = `${machines.length} of ${current.replicas} Machines of ${current.namespace}/${current.name} have a Machine of kubenode`;
    return { type: 'Uncovered', because };
  }
  const uncovered = firstReason(machines, (each) => uncoveredReason(each, version, facts));
  if (uncovered !== undefined) return { type: 'Uncovered', because: uncovered };
  // Without a patch Cluster API would delete a machine that a person keeps.
  const held = firstReason(machines, (each) => heldReason(each, facts));
  if (held !== undefined) return { type: 'Undecided', because: held };
  return { type: 'Covered', version, because: `a component covers version ${version} on each machine` };
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

/** Returns our Machines for what Cluster API asks about. */
export function machinesAskedAbout(asked: AskedObject, machines: readonly Machine[]): readonly Machine[] {
  const { selector, namespace, name } = asked;
  return machines.filter((machine) => {
    const object = followedObject(machine);
    const isLeaving = machine.metadata.deletionTimestamp !== undefined;
    if (object?.namespace !== namespace || isLeaving) return false;
    return selector ? isSelected(selector, machine.metadata.labels ?? {}) : object.name === name;
  });
}

function uncoveredReason(
  machine: Machine,
  version: string,
  { nodeOf, rules }: UpdateFacts,
): string | undefined {
  const { name, labels = {} } = machine.metadata;
  if (machine.status?.agent === undefined) return `${name} has no agent`;
  if (labels[LABEL_AGENT_BLOCKED] !== undefined) return `the agent of ${name} is blocked`;
  const entry = kubeletEntry(machine, version, rules);
  if (typeof entry === 'string') return entry;
  if (isPinOfAnother(machine, entry.name)) return pinnedReason(machine, entry);
  return rules.forbiddenReason(machine, nodeOf(name), entry);
}

function pinnedReason({ metadata: { name } }: Machine, entry: EntryContent): string {
  return `${entry.name} of ${name} is pinned by another owner: remove the pin to have it follow spec.version`;
}

function heldReason(machine: Machine, { nodeOf, now }: UpdateFacts): string | undefined {
  const { name } = machine.metadata;
  const hold = holdInForce(machine, nodeOf(name), now);
  return hold && `${name} is held: ${hold.reason}`;
}

/** The Machine of Cluster API as the API server has it. A request alone proves nothing: anybody may send one. */
export interface StoredMachine {
  readonly version: string | undefined;
  readonly providerID: string | undefined;
  readonly isUpdating: boolean;
}

export interface UpdateMachineInput extends Omit<UpdateFacts, 'machines'> {
  readonly asked: AskedObject;
  readonly onFailure: OnFailure;
  readonly stored: StoredMachine | undefined;
  /** As the API server has it now. */
  readonly machine: Machine | undefined;
}

/** Refuse: the request is not about an update of Cluster API. Pin: the entry is written, and the update begins. */
export type UpdateDecision = { readonly because: string } & (
  | { readonly type: 'Refuse' | 'Wait' | 'Done' | 'Fail' }
  | { readonly type: 'Pin'; readonly machine: Machine; readonly entry: EntryContent }
);

/** A machine that has begun is never failed because of a wait. */
export function planUpdate(input: UpdateMachineInput): UpdateDecision {
  const { asked, rules } = input;
  const machine = ownMachine(input);
  const refusal = refusalReason(input);
  if (refusal !== undefined) return { type: 'Refuse', because: refusal };
  if (!machine) return { type: 'Wait', because: `${askedText(asked)} has no Machine of kubenode` };
  const entry = kubeletEntry(machine, asked.version ?? '', rules);
  if (typeof entry === 'string') return { type: 'Wait', because: entry };
  return isPresent(machine, entry) ? planPresent(machine, entry, input) : planStart(machine, entry, input);
}

/** Undefined also where ours is still about another instance. */
function ownMachine({ machine, stored }: UpdateMachineInput): Machine | undefined {
  const isOwn = machine && followedObject(machine)?.providerID === stored?.providerID;
  return isOwn ? machine : undefined;
}

function refusalReason({ asked, stored }: UpdateMachineInput): string | undefined {
  const { version } = asked;
  if (!stored) return `${askedText(asked)} was not found`;
  if (stored.isUpdating && version !== undefined && stored.version === version) return undefined;
  return `${askedText(asked)} does not ask for an update to ${version ?? 'a version'}`;
}

function askedText({ namespace, name }: AskedObject): string {
  return `Machine ${namespace}/${name} of Cluster API`;
}

function isPresent({ spec }: Machine, entry: EntryContent): boolean {
  const present = spec.components.find(({ name }) => name === entry.name);
  return present !== undefined && entryDigest(present) === entryDigest(entry);
}

function planStart(machine: Machine, entry: EntryContent, input: UpdateMachineInput): UpdateDecision {
  if (isPinOfAnother(machine, entry.name)) return { type: 'Wait', because: pinnedReason(machine, entry) };
  const { nodeOf, rules } = input;
  const because =
    heldReason(machine, { ...input, machines: [] }) ??
    rules.forbiddenReason(machine, nodeOf(machine.metadata.name), entry);
  if (because !== undefined) return { type: 'Wait', because };
  return {
    type: 'Pin',
    machine,
    entry,
    because: `${entry.componentRef} is assigned to ${machine.metadata.name}`,
  };
}

function planPresent(
  machine: Machine,
  entry: EntryContent,
  { onFailure }: UpdateMachineInput,
): UpdateDecision {
  const { name } = machine.metadata;
  const report = reportOf(machine, { ...entry });
  if (!isObserved(machine)) {
    return { type: 'Wait', because: `the agent of ${name} has not read the change yet` };
  }
  const progress = entryProgress(entry, report);
  if (progress.step === 'Done') return { type: 'Done', because: `${entry.componentRef} runs on ${name}` };
  const isFinal = progress.step === 'Failed' && onFailure === 'Fail';
  return { type: isFinal ? 'Fail' : 'Wait', because: `${name}: ${progress.because}` };
}
