/** Tells how much a revision would disturb each machine. Equal changes are compared once. Pure, but for its memory. */
import type { ActivationClass } from '../../../api/enums.ts';
import type { Machine, MachineComponentReport } from '../../../api/generated/types.ts';
import type { EntryContent } from '../../../api/machine/entry-content.ts';
import type { MemberState } from '../machine/member-state.ts';
import { type ClassifiedChange, classifyChange, worstClass } from '../revision/change-class.ts';
import { contentOf, type FindInstalled } from '../revision/entry-content.ts';
import type { Revision } from '../revision/resolve.ts';

export type ClassOf = (member: MemberState, to: Revision) => ActivationClass;

/** Creates the comparison for one reconcile: versions are immutable, but one that was missing may come. */
export function createClassOf(find: FindInstalled): ClassOf {
  const changes = new Map<string, ClassifiedChange>();
  const classes = new Map<Revision, Map<Machine, ActivationClass>>();
  return (member, to) => {
    const known = classes.get(to) ?? new Map<Machine, ActivationClass>();
    classes.set(to, known);
    const found = known.get(member.machine) ?? classify(member, to);
    known.set(member.machine, found);
    return found;
  };

  function classify({ machine, pinned }: MemberState, { components }: Revision): ActivationClass {
    const own = components.filter(({ name }) => !pinned.includes(name));
    return worstClass(own.flatMap((after) => changesTo(machine, after)).map((each) => each.class));
  }

  /** Returns the changes from what is assigned and from what the agent still has, because these may differ. */
  function changesTo({ spec, status }: Machine, after: EntryContent): readonly ClassifiedChange[] {
    const entry = spec.components.find(({ name }) => name === after.name);
    const report = status?.components?.find(({ name }) => name === after.name);
    return contentsBefore(entry, report).map((before) => changeBetween(before, after));
  }

  function changeBetween(before: EntryContent | 'Absent', after: EntryContent): ClassifiedChange {
    const key = `${keyOf(before)} ${keyOf(after)}`;
    const found = changes.get(key) ?? classifyChange(contentOf(before, find), contentOf(after, find));
    changes.set(key, found);
    return found;
  }
}

/** Returns the contents that the host may have. Where nothing is installed yet, nothing may be there. */
function contentsBefore(
  entry: EntryContent | undefined,
  report: MachineComponentReport | undefined,
): readonly (EntryContent | 'Absent')[] {
  const assigned = entry ? [entry] : [];
  const { currentRef } = report ?? {};
  if (currentRef === undefined) return [...assigned, 'Absent'];
  return currentRef === entry?.componentRef ? assigned : [...assigned, installed(currentRef, entry)];
}

/** Returns the content that the agent reports. Its parameters are not reported: those that are assigned are the best guess. */
function installed(componentRef: string, entry: EntryContent | undefined): EntryContent {
  return { name: '', componentRef, digest: '', state: 'Present', parameters: entry?.parameters ?? {} };
}

function keyOf(entry: EntryContent | 'Absent'): string {
  if (entry === 'Absent' || entry.state === 'Absent') return 'Absent';
  return `${entry.componentRef} ${JSON.stringify(entry.parameters)}`;
}
