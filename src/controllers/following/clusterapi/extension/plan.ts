/** Decides how far the update of one machine is, and what begins next. Pure. */
import type { Machine } from '../../../../api/generated/types.ts';
import type { EntryContent } from '../../../../api/machine/entry-content.ts';
import { isObserved, reportOf } from '../../../../api/machine/entry-report.ts';
import { followedObject } from '../../../../providers/followed.ts';
import { entryProgress } from '../../../../rollout/entry-progress.ts';
import { bootstrapFiles } from './files/kubeadm-files.ts';
import { type DesiredBootstrap, orderAfter, type UpdateOrder } from './files/order.ts';
import { hasOtherFiles, targetEntries } from './files/target-entries.ts';
import {
  isPresent,
  noRecordReason,
  pinnedReason,
  recordIn,
  type UpdateFacts,
  updateHoldReason,
} from './machines.ts';
import { isPinOfAnother } from './owner.ts';
import type { AskedObject, OnFailure } from './protocol.ts';

/** The Machine of Cluster API as the API server has it. A request alone proves nothing: anybody may send one. */
export interface StoredMachine {
  readonly version: string | undefined;
  readonly providerID: string | undefined;
  readonly isUpdating: boolean;
  /** Undefined: it names no KubeadmConfig. */
  readonly config?: StoredConfig | undefined;
}

/** The KubeadmConfig of a Machine as the API server has it, or why it cannot be read. */
export type StoredConfig =
  | { readonly spec: unknown; readonly isUpdating: boolean }
  | { readonly unreadable: string };

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

/** A machine that has begun is never failed because of a wait. One component follows the other, so that one that fails ends the update there. */
export function planUpdate(input: UpdateMachineInput): UpdateDecision {
  const { asked, rules } = input;
  const machine = ownMachine(input);
  const refusal = refusalReason(input);
  if (refusal !== undefined) return { type: 'Refuse', because: refusal };
  if (!machine) return { type: 'Wait', because: `${askedText(asked)} has no Machine of kubenode` };
  const desired = storedBootstrap(input);
  const order = updateOrder(machine, desired, input);
  if (typeof order === 'string') return { type: 'Wait', because: order };
  const entries = targetEntries(machine, order, desired.files, rules);
  if (typeof entries === 'string') return { type: 'Wait', because: entries };
  const decisions = entries.map((entry) =>
    isPresent(machine, entry) ? planPresent(machine, entry, input) : planStart(machine, entry, input),
  );
  const unfinished = decisions.find(({ type }) => type !== 'Done');
  const because =
    decisions.map((each) => each.because).join(', ') || `${askedText(asked)} has what it asks for`;
  return unfinished ?? { type: 'Done', because };
}

/** The content of a request is not used: the API server has what Cluster API desires. */
function storedBootstrap({ asked, stored }: UpdateMachineInput): DesiredBootstrap {
  const config = stored?.config;
  const spec = config && 'spec' in config ? config.spec : undefined;
  return { version: asked.version, files: bootstrapFiles(spec) };
}

/** Returns what the update changes, or why that is not known. */
function updateOrder(
  machine: Machine,
  desired: DesiredBootstrap,
  { stored, rules }: UpdateMachineInput,
): UpdateOrder | string {
  const record = recordIn(machine);
  const onlyVersion = { version: desired.version, paths: [] };
  const config = stored?.config;
  if (!config) return onlyVersion;
  if ('unreadable' in config) return record ? config.unreadable : onlyVersion;
  if (record) return orderAfter(record, desired);
  return hasOtherFiles(machine, desired.files, rules) ? noRecordReason(machine) : onlyVersion;
}

/** Undefined also where ours is still about another instance. */
function ownMachine({ machine, stored }: UpdateMachineInput): Machine | undefined {
  const isOwn = machine && followedObject(machine)?.providerID === stored?.providerID;
  return isOwn ? machine : undefined;
}

function refusalReason({ asked, stored }: UpdateMachineInput): string | undefined {
  const { version } = asked;
  if (!stored) return `${askedText(asked)} was not found`;
  if (!isConfigUpdating(stored)) return `the KubeadmConfig of ${askedText(asked)} is not being updated`;
  if (stored.isUpdating && version !== undefined && stored.version === version) return undefined;
  return `${askedText(asked)} does not ask for an update to ${version ?? 'a version'}`;
}

/** Cluster API writes the config, and marks it, before it asks for the update. */
function isConfigUpdating({ config }: StoredMachine): boolean {
  return !config || 'unreadable' in config || config.isUpdating;
}

function askedText({ namespace, name }: AskedObject): string {
  return `Machine ${namespace}/${name} of Cluster API`;
}

function planStart(machine: Machine, entry: EntryContent, input: UpdateMachineInput): UpdateDecision {
  if (isPinOfAnother(machine, entry.name)) return { type: 'Wait', because: pinnedReason(machine, entry) };
  const { nodeOf, rules } = input;
  const because =
    updateHoldReason(machine, { ...input, machines: [] }) ??
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
