/** Which machines of a set are deleted first. Pure. */
import type { MachineSet } from '../../../api/generated/types.ts';
import { ANNOTATION_DELETE, ANNOTATION_DELETION_PRIORITY } from '../../../api/names.ts';
import { byCode, digestOf } from '../../../kube/objects/digest.ts';
import type { MachineSetAction } from '../actions.ts';
import { isUpToDate, type Member, markInForce } from '../members.ts';

export interface DeletionCandidate {
  readonly member: Member;
  /** Why this one comes before others. */
  readonly because: string;
}

/** The first rule in which two machines differ decides. The same in every process. */
export function inDeletionOrder(
  members: readonly Member[],
  order: MachineSet['spec']['deletionOrder'],
): readonly DeletionCandidate[] {
  return members
    .map((member) => ({ member, rank: rankOf(member), age: ageKey(member, order) }))
    .toSorted((a, b) => {
      const rule = a.rank.findIndex((value, index) => value !== b.rank[index]);
      const difference = rule < 0 ? 0 : (a.rank[rule] ?? 0) - (b.rank[rule] ?? 0);
      return difference || byAge(a.age, b.age, order) || byCode(a.member.name, b.member.name);
    })
    .map(({ member }) => ({ member, because: reasonOf(member, order) }));
}

/** The grant of a job covers the deletion of its machine, whatever the deletion is for: the Defender grants no second one. */
export function deletionOf({ member, because }: DeletionCandidate): MachineSetAction {
  const { name, machine, node } = member;
  const uid = node?.metadata.uid;
  const grant = markInForce(member)?.grant;
  return {
    type: 'Delete',
    name,
    machine,
    because,
    ...(uid === undefined ? {} : { node: uid }),
    ...(grant === undefined ? {} : { grant }),
  };
}

function rankOf(member: Member): readonly number[] {
  return [
    Number(!isMarked(member)),
    priorityOf(member),
    Number(hasInstance(member)),
    Number(member.isReady),
    Number(isUpToDate(member)),
  ];
}

/** The last rule before the age. */
export const NOT_UP_TO_DATE = 'not up to date';

const AGE_TEXT = { Random: 'by its hash', Newest: 'the newest first', Oldest: 'the oldest first' } as const;

function reasonOf(member: Member, order: MachineSet['spec']['deletionOrder']): string {
  const reasons: readonly (readonly [applies: boolean, text: string])[] = [
    [isMarked(member), `annotation ${ANNOTATION_DELETE}`],
    [priorityOf(member) !== 0, `deletion priority ${priorityOf(member)}`],
    [!hasInstance(member), 'no instance'],
    [!member.isReady, 'not Ready'],
    [!isUpToDate(member), NOT_UP_TO_DATE],
  ];
  return reasons.find(([applies]) => applies)?.[1] ?? AGE_TEXT[order];
}

function isMarked({ machine }: Member): boolean {
  return machine.metadata.annotations?.[ANNOTATION_DELETE] !== undefined;
}

function priorityOf({ machine }: Member): number {
  const text = machine.metadata.annotations?.[ANNOTATION_DELETION_PRIORITY] ?? '';
  return /^[+-]?\d{1,9}$/.test(text) ? Number(text) : 0;
}

function hasInstance({ machine: { status } }: Member): boolean {
  return status?.infra?.providerID !== undefined || status?.node?.uid !== undefined;
}

function ageKey({ machine: { metadata } }: Member, order: MachineSet['spec']['deletionOrder']): string {
  return order === 'Random' ? digestOf(metadata.uid ?? metadata.name) : (metadata.creationTimestamp ?? '');
}

function byAge(one: string, other: string, order: MachineSet['spec']['deletionOrder']): number {
  return order === 'Newest' ? byCode(other, one) : byCode(one, other);
}
