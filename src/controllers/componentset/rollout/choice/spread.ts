/** Limits how many machines of one domain, such as a rack, are updated at the same time. Pure. */
import type { Explanation } from '../../../../rollout/explanation.ts';
import { resolveIntOrPercent } from '../../../../rollout/int-or-percent.ts';
import type { MemberState } from '../../machine/member-state.ts';
import { machineLabel } from '../../machine/traits.ts';
import type { RolloutAction, RolloutInput } from '../input.ts';

/** The machines of each domain that are in work. Machines without the label are one domain: nothing tells them apart. */
export interface SpreadUse {
  readonly labelKey: string;
  readonly most: number;
  /** The names by domain. */
  readonly inWork: ReadonlyMap<string, readonly string[]>;
}

/** Returns the machines that are in work now. Undefined: the set has no spread. */
export function spreadUse({
  set,
  members,
  left,
}: Pick<RolloutInput, 'set' | 'members' | 'left'>): SpreadUse | undefined {
  const { spread } = set.spec.rollout;
  if (!spread) return undefined;
  const use = { labelKey: spread.labelKey, most: resolveIntOrPercent(spread.max, members.length) };
  return withInWork({ ...use, inWork: new Map() }, [...members, ...left].filter(isInWork));
}

/** Adds the machines that these actions start. */
export function withStarted(
  use: SpreadUse | undefined,
  actions: readonly RolloutAction[],
): SpreadUse | undefined {
  const started = actions.flatMap((action) => (action.type === 'Assign' ? [action.member] : []));
  return use && withInWork(use, started);
}

/** Returns why the machine cannot start now. A machine that is in work itself takes the place of no other. */
export function spreadWait(use: SpreadUse, member: MemberState): Explanation | undefined {
  const { labelKey, most } = use;
  const domain = domainOf(use, member);
  const names = use.inWork.get(domain) ?? [];
  if (!countsInDomain(member) || names.length < most || names.includes(member.name)) return undefined;
  const [first] = names;
  const where = domain === NO_LABEL ? `without label ${labelKey}` : `with ${labelKey}=${domain}`;
  return {
    reason: 'SpreadLimit',
    because: `${member.name}: machines ${where} in work: ${names.length} (${first}), allowed: ${most}`,
    ...(first !== undefined && { blocker: { kind: 'Machine', name: first } }),
  };
}

export function withInWork(use: SpreadUse, members: readonly MemberState[]): SpreadUse {
  const inWork = new Map(use.inWork);
  for (const member of members.filter(countsInDomain)) {
    const domain = domainOf(use, member);
    const names = inWork.get(domain) ?? [];
    if (!names.includes(member.name)) inWork.set(domain, [...names, member.name]);
  }
  return { ...use, inWork };
}

/** No label has this value: it is empty, or begins with a letter or a digit. */
const NO_LABEL = '-';

export function domainOf({ labelKey }: Pick<SpreadUse, 'labelKey'>, member: MemberState): string {
  return machineLabel(member, labelKey) ?? NO_LABEL;
}

/** Counts a machine until its grant is settled: one that failed and is out of service weakens its domain, too. */
function isInWork(member: MemberState): boolean {
  return member.holdsGrant && member.step !== 'Settled';
}

/** A machine that never served is not missed in its domain. */
function countsInDomain({ isEstablished }: Pick<MemberState, 'isEstablished'>): boolean {
  return isEstablished;
}
