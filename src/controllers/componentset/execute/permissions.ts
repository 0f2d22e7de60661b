/** Obtains grants for the machines of a plan: one call for all that is asked, and one for all that is renewed. */
import type { Denial, Grant, GrantAsk, GrantPort } from '../../../api/grants.ts';
import { grantAsk } from '../rollout/assignment.ts';
import type { RolloutAction, RolloutInput } from '../rollout/input.ts';
import type { DeniedMachine } from '../status/report.ts';

export type PermittedAction = Extract<RolloutAction, { type: 'Assign' | 'Permit' }>;
export type RolloutGrants = Pick<GrantPort, 'ask' | 'dryRun' | 'renew' | 'settle'>;

export interface RolloutPermissions {
  readonly granted: readonly { readonly action: PermittedAction; readonly grant: Grant }[];
  readonly denied: readonly { readonly action: PermittedAction; readonly denial: Denial }[];
}

type Answers = Map<PermittedAction, Grant | Denial>;

export async function obtainGrants(
  actions: readonly PermittedAction[],
  input: Pick<RolloutInput, 'set' | 'now'>,
  grants: RolloutGrants,
): Promise<RolloutPermissions> {
  const answers: Answers = new Map();
  await renewAll(actions, grants, answers);
  const open = actions.filter((action) => !answers.has(action) && !isUpkeep(action));
  const asked = open.length === 0 ? [] : await grants.ask(open.map((action) => actionAsk(action, input)));
  for (const [index, action] of open.entries()) {
    const answer = asked[index];
    if (answer) answers.set(action, answer);
  }
  return byAnswer(answers);
}

/**
 * Tells whether the action only renews a grant. The class of such a renewal is not that of the change, so no new grant is asked
 * for by it.
 */
function isUpkeep({ type: what, permission }: PermittedAction): boolean {
  return what === 'Permit' && permission.by === 'Renew';
}

/** Renews grants. A grant that the ledger does not have any more is asked for again. */
async function renewAll(
  actions: readonly PermittedAction[],
  grants: RolloutGrants,
  answers: Answers,
): Promise<void> {
  const renewable = actions.flatMap((action) => renewalOf(action));
  if (renewable.length === 0) return;
  const renewed = await grants.renew(renewable.map(({ renewal }) => renewal));
  for (const [index, { action }] of renewable.entries()) {
    const answer = renewed[index];
    if (answer?.granted || (answer && answer.reason !== 'AskInvalid')) answers.set(action, answer);
  }
}

function renewalOf(action: PermittedAction): readonly {
  readonly action: PermittedAction;
  readonly renewal: Parameters<GrantPort['renew']>[0][number];
}[] {
  const { member, permission } = action;
  const { grant } = member;
  if (permission.by !== 'Renew' || !grant) return [];
  const { id, fence } = grant;
  const recovery = permission.recovery ? { recovery: true } : {};
  return [{ action, renewal: { id, fence, ...recovery } }];
}

/** Returns the ask to the Defender that precedes giving entries to a machine. */
export function actionAsk(
  action: PermittedAction,
  { set, now }: Pick<RolloutInput, 'set' | 'now'>,
): ReturnType<typeof grantAsk> {
  const revision = action.type === 'Assign' ? action.revision.name : (action.member.revision ?? '');
  return grantAsk(action.member, revision, action.permission, {
    set: set.metadata.name,
    expectedSeconds: set.spec.rollout.machineTimeoutSeconds,
    factsAt: now,
  });
}

/** Returns the denials that the Defender would give to these asks. Nothing is recorded. */
export async function previewDenials(
  asks: readonly GrantAsk[],
  grants: Pick<RolloutGrants, 'dryRun'>,
): Promise<readonly DeniedMachine[]> {
  const answers = asks.length === 0 ? [] : await grants.dryRun(asks);
  return asks.flatMap(({ machine }, index) => {
    const denial = answers[index];
    return denial && !denial.granted ? [{ machine, denial }] : [];
  });
}

function byAnswer(answers: ReadonlyMap<PermittedAction, Grant | Denial>): RolloutPermissions {
  const granted: { action: PermittedAction; grant: Grant }[] = [];
  const denied: { action: PermittedAction; denial: Denial }[] = [];
  for (const [action, answer] of answers) {
    if (answer.granted) granted.push({ action, grant: answer });
    else denied.push({ action, denial: answer });
  }
  return { granted, denied };
}
