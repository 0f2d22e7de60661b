/** Decides which acts a limit of a policy is for, and whether another limit is for all of them as well. Pure. */
import { RISKS, type Risk } from '../../api/enums.ts';
import { defaultRisk, isAction } from '../../api/steps/steps.ts';
import { isListed } from '../ledger/entries.ts';

/** Holds the acts that a limit, a breaker or an approval declares: an absent or empty list means all. */
export interface DeclaredActs {
  readonly actions?: readonly string[];
  readonly risks?: readonly Risk[];
}

/** Holds the acts of a limit that are left in the scope of its policy. Undefined: all. */
export interface ActLists {
  readonly actions: readonly string[] | undefined;
  readonly risks: readonly Risk[] | undefined;
}

export function actsIn(scope: DeclaredActs, { actions, risks }: DeclaredActs): ActLists {
  return { actions: intersection(scope.actions, actions), risks: intersection(scope.risks, risks) };
}

/** Tells whether every one of these acts is one of those. */
export function coversActs({ actions = [], risks = [] }: DeclaredActs, acts: ActLists): boolean {
  return coversList(actions, acts.actions) && coversList(risks, acts.risks);
}

/** Tells whether acts of this risk can be among them. */
export function canHaveRisk({ actions, risks }: ActLists, risk: Risk): boolean {
  if (risks && !risks.includes(risk)) return false;
  const order = RISKS.indexOf(risk);
  return (
    !actions || actions.some((action) => isAction(action) && RISKS.indexOf(defaultRisk(action)) >= order)
  );
}

function intersection<T>(a: readonly T[] = [], b: readonly T[] = []): readonly T[] | undefined {
  if (a.length === 0) return b.length === 0 ? undefined : b;
  return b.length === 0 ? a : a.filter((item) => b.includes(item));
}

function coversList<T>(list: readonly T[], found: readonly T[] | undefined): boolean {
  return list.length === 0 || (found?.every((item) => isListed(list, item)) ?? false);
}
