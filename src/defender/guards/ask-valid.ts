/** The ask itself: well formed, recent, and about the machine that we know. */
import { HOLDERS, RISKS } from '../../api/enums.ts';
import { type DenialCause, isOrphanInstanceKey } from '../../api/grants.ts';
import { isAction, isStep, leastRisk, stepEntry } from '../../api/steps/steps.ts';
import { isAtLeast } from '../ledger/entries.ts';
import { type AskGuard, type GuardInput, secondsFrom } from './guard.ts';

/** Facts older than this are void: their content may have changed (R17). */
export const MAX_FACTS_AGE_SECONDS = 60;
/** Clocks of asker and Defender may differ by this much. */
const MAX_AHEAD_SECONDS = 30;

export const askValid: AskGuard = {
  id: 'ask-valid',
  reasons: ['AskInvalid'],
  proof: { promise: 'an act below its risk', seed: 1 },
  skippedByRecovery: false,
  checkedAtRenewal: false,
  check: (input) =>
    askProblems(input.ask).map((problem) => ({ reason: 'AskInvalid', message: `invalid ask: ${problem}` })),
};

export const askRecent: AskGuard = {
  id: 'ask-recent',
  reasons: ['AskStale'],
  proof: { promise: 'an act by old facts', seed: 1 },
  skippedByRecovery: false,
  checkedAtRenewal: false,
  check: checkRecent,
};

export const sameNode: AskGuard = {
  id: 'same-node',
  reasons: ['NodeIdentityChanged'],
  proof: { promise: 'an act on another Node', seed: 2 },
  skippedByRecovery: false,
  checkedAtRenewal: true,
  check: checkSameNode,
};

export const revisionKnown: AskGuard = {
  id: 'revision-known',
  reasons: ['RevisionUnknown'],
  proof: { promise: 'an act of an unknown revision', seed: 2 },
  skippedByRecovery: false,
  checkedAtRenewal: false,
  check: checkRevision,
};

export function askProblems(ask: GuardInput['ask']): readonly string[] {
  const { action, holder, machine, expectedSeconds, recovery = false } = ask;
  const checks: readonly (readonly [isWrong: boolean, problem: string])[] = [
    [machine === '', 'machine is empty'],
    [!isAction(action), `unknown action ${action}`],
    [!HOLDERS.includes(holder.kind), `unknown holder kind ${holder.kind}`],
    [holder.name === '', 'holder has no name'],
    [!(expectedSeconds >= 0), 'expectedSeconds must not be negative'],
    [(action === 'DeleteInstance') !== isOrphanInstanceKey(machine), `${action} is not for ${machine}`],
    [recovery && !mayRecover(action), `${action} takes back no act, so it cannot be a recovery`],
  ];
  return [...checks.flatMap(([isWrong, problem]) => (isWrong ? [problem] : [])), ...riskProblems(ask)];
}

function riskProblems({ action, risk }: GuardInput['ask']): readonly string[] {
  if (!RISKS.includes(risk)) return [`unknown risk ${risk}`];
  const least = isAction(action) ? leastRisk(action) : 'None';
  return isAtLeast(risk, least) ? [] : [`risk of ${action} is at least ${least}`];
}

/** A component update may be a rollback; a step is a recovery only when it is declared as one. */
function mayRecover(action: string): boolean {
  return action === 'UpdateComponent' || isRecoveryStep(action);
}

export function isRecoveryStep(action: string): boolean {
  return isStep(action) && stepEntry(action).recovery === true;
}

function checkRecent({ ask: { factsAt }, now }: GuardInput): readonly DenialCause[] {
  if (!factsAt) return [];
  const used = secondsFrom(factsAt, now);
  if (used <= MAX_FACTS_AGE_SECONDS && used >= -MAX_AHEAD_SECONDS) return [];
  const message =
    used > 0
      ? `the facts of the ask are ${used} s old; at most ${MAX_FACTS_AGE_SECONDS} s are allowed`
      : `the facts of the ask are ${-used} s in the future; compare the clocks`;
  return [{ reason: 'AskStale', message, used, limit: MAX_FACTS_AGE_SECONDS }];
}

function checkSameNode({ ask, machine }: GuardInput): readonly DenialCause[] {
  if (ask.nodeUID === machine.nodeUID) return [];
  const message =
    `machine ${machine.name}: the ask is about Node ${ask.nodeUID ?? '(none)'}, ` +
    `but its Node is ${machine.nodeUID ?? '(none)'}`;
  return [{ reason: 'NodeIdentityChanged', message }];
}

function checkRevision({ ask: { holder } }: GuardInput): readonly DenialCause[] {
  const { kind, name, revision = '' } = holder;
  if ((kind !== 'RemedyOperationJob' && kind !== 'MachineComponentSet') || revision !== '') return [];
  const message = `${kind} ${name} does not name the revision of the rule or set that it acts for`;
  return [{ reason: 'RevisionUnknown', message }];
}
