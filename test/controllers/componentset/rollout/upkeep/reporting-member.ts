/** A machine whose agent reports its entry of the set. */
import type { MachineComponentReport } from '../../../../../src/api/generated/types.ts';
import type { MemberState } from '../../../../../src/controllers/componentset/machine/member-state.ts';
import { ago } from '../../../../support/builders.ts';
import { grant, member, type NEW, type StateParts } from '../rollout-input.ts';

export const HOLDS: StateParts = { grant: grant(), holdsGrant: true, grantEndsAt: new Date(ago(-240)) };

export type ReportState = NonNullable<MachineComponentReport['state']>;

/** Its agent reports its entry of the set in that state. */
export function reporting(state: ReportState | undefined, parts: StateParts): MemberState {
  const begun = member('m', parts);
  const [entry] = begun.machine.spec.components;
  if (!entry) throw new Error('expected an entry');
  const assignment = { set: 'general', revision: begun.revision ?? '', batch: 1 };
  const report = { name: entry.name, desiredRef: entry.componentRef, digest: entry.digest };
  const components = state ? [{ ...report, state }] : [];
  const spec = { ...begun.machine.spec, components: [{ ...entry, assignment }] };
  return { ...begun, batch: 1, machine: { ...begun.machine, spec, status: { conditions: [], components } } };
}

/** The same machine, on which `currentRef` is in force. */
export function running(each: MemberState, currentRef: string): MemberState {
  const components = each.machine.status?.components?.map((report) => ({ ...report, currentRef })) ?? [];
  return { ...each, machine: { ...each.machine, status: { conditions: [], components } } };
}

/** Its agent has staged the entry, and asks for a grant; `currentRef` is in force. */
export function asking(revision: typeof NEW, currentRef: string): MemberState {
  const parts = { at: revision, step: 'NeedsGrant', reason: 'GrantNeeded' } as const;
  return running(reporting('WaitingForGrant', parts), currentRef);
}

export function refOf({ components: [component] }: typeof NEW): string {
  return component?.componentRef ?? '';
}
