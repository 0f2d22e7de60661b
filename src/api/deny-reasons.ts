/** Lists every reason for which the Defender denies an ask, with its words. No npm package here. */
import { AREA_DENIALS } from './denials/areas.ts';
import type { DenialText } from './denials/denial.ts';
import { GENERAL_DENIALS } from './denials/general.ts';
import { LIMIT_DENIALS } from './denials/limits.ts';

/** The groups in order of precedence: when several reasons apply, the first is the reason of the denial; the others are listed with it. */
export const DENIAL_GROUPS = [...GENERAL_DENIALS, ...AREA_DENIALS, ...LIMIT_DENIALS] as const;

type ReasonsOf<Group> = Group extends { readonly reasons: infer Reasons } ? keyof Reasons : never;
export type DenyReason = ReasonsOf<(typeof DENIAL_GROUPS)[number]>;

export const DENIALS = Object.fromEntries(
  DENIAL_GROUPS.flatMap(({ reasons }) => Object.entries<DenialText>(reasons)),
) as Readonly<Record<DenyReason, DenialText>>;

export const DENY_REASONS = Object.keys(DENIALS) as readonly DenyReason[];

/** Returns where the documentation tells what the reason means, and what to do. */
export function denialPage(reason: DenyReason): string {
  return `docs/runbooks/denials.md#${reason.toLowerCase()}`;
}
