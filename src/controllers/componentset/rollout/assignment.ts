/** Which entries a machine gets with a revision, and what is asked of the Defender for it. Pure. */
import type { ComponentGrant, Machine, MachineComponentEntry } from '../../../api/generated/types.ts';
import type { Grant, GrantAsk } from '../../../api/grants.ts';
import { entryContent, entryDigest } from '../../../api/machine/entry-content.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { MemberState } from '../machine/member-state.ts';
import { type AppliedEntry, mergeEntries } from '../members/entries.ts';
import { riskOf } from '../revision/change-class.ts';
import type { Revision } from '../revision/resolve.ts';
import type { Permission, RolloutAction } from './input.ts';
import { isPinned } from './start-wait.ts';

export type GivenGrant = Pick<Grant, 'id' | 'fence' | 'notAfter'>;

/** The write of an action: the whole list of this controller, on the version of the Machine that was read. */
export interface EntriesWrite {
  readonly machine: string;
  readonly resourceVersion?: string;
  readonly components: readonly AppliedEntry[];
}

export interface AssigningSet {
  readonly name: string;
  readonly retryToken?: string;
}

export type WritingAction = Extract<RolloutAction, { type: 'Assign' | 'Permit' | 'Settle' }>;

/** Without a grant the entries are written without one: it is settled. */
export function entriesWrite(
  set: AssigningSet,
  action: WritingAction,
  grant: GivenGrant | undefined,
): EntriesWrite {
  const { machine } = action.member;
  const changed = action.type === 'Assign' ? assigned(set, action) : ownEntries(set.name, machine);
  const components = mergeEntries(
    machine,
    changed.map(({ grant: _old, ...entry }) => ({
      ...entry,
      ...optional('grant', grant && grantFor(entry, grant)),
    })),
  );
  const { name, resourceVersion } = machine.metadata;
  return { machine: name, components, ...optional('resourceVersion', resourceVersion) };
}

function assigned(
  { name: set, retryToken }: AssigningSet,
  { revision, batch }: Extract<WritingAction, { type: 'Assign' }>,
): readonly MachineComponentEntry[] {
  const assignment = {
    set,
    revision: revision.name,
    ...optional('batch', batch),
    ...optional('retryToken', retryToken),
  };
  return revision.components.map((component) => ({ ...component, assignment }));
}

function ownEntries(set: string, { spec }: Machine): readonly MachineComponentEntry[] {
  return spec.components.filter(({ assignment }) => assignment?.set === set);
}

export function grantFor(entry: MachineComponentEntry, { id, fence, notAfter }: GivenGrant): ComponentGrant {
  return { id, fence, entryDigest: entryDigest(entry), notAfter };
}

/** Whether the entries of the machine are those of the revision, apart from who assigned them. */
function hasContent({ machine, pinned }: MemberState, { components }: Revision): boolean {
  const present = new Map(machine.spec.components.map((entry) => [entry.name, entryDigest(entry)]));
  const own = components.filter(({ name }) => !pinned.includes(name));
  return own.every((component) => present.get(component.name) === entryDigest(entryContent(component)));
}

/** A plain `kubectl apply` replaced the whole list of the machine: what it has is assigned again, in the open batch. */
export function needsReassignment(member: MemberState, revision: Revision): boolean {
  const { step, machine } = member;
  const isCandidate = step === 'Unassigned' && machine.spec.components.length > 0;
  return isCandidate && !isPinned(member, revision) && hasContent(member, revision);
}

export interface GrantAskContext {
  readonly set: string;
  /** Longest time that an update should take. */
  readonly expectedSeconds: number;
  readonly factsAt: Date;
}

/** The same ask again returns the same grant: after a crash between the answer and the write, nothing is granted twice. */
export function grantAsk(
  member: MemberState,
  revision: string,
  permission: Permission,
  { set, expectedSeconds, factsAt }: GrantAskContext,
): GrantAsk {
  return {
    holder: { kind: 'MachineComponentSet', name: set, origin: `MachineComponentSet/${set}`, revision },
    machine: member.name,
    ...optional('nodeUID', member.nodeUID),
    action: 'UpdateComponent',
    risk: riskOf(permission.class, member.isEstablished),
    factsAt,
    expectedSeconds,
    started: true,
    ...optional('brings', permission.brings),
    ...(permission.recovery ? { recovery: true } : {}),
  };
}
