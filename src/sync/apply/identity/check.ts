/**
 * Finds the units that their ServiceAccount may not write as a whole, before anything is written: of such a unit nothing is written, and
 * the others go on.
 */
import { IDENTITY_DENIED, IDENTITY_MISSING, IDENTITY_UNKNOWN } from '../../../api/status/sync-words.ts';
import { isKubeError, type KubeError } from '../../../kube/client/errors.ts';
import { impersonateServiceAccount } from '../../../kube/controller/principals.ts';
import { SERVICE_ACCOUNTS } from '../../../kube/objects/core-kinds.ts';
import { runConcurrently } from '../../../kube/process/run-concurrently.ts';
import type { SyncContext } from '../context.ts';
import type { TargetPlan } from '../plan.ts';
import { stopsAll } from '../timeout-budget.ts';
import { createAllowedAccess, findMissingAccess } from './access-reviews.ts';
import { type BlockedUnit, withoutBlockedUnits } from './blocked-units.ts';
import {
  gitOnlyText,
  impersonationText,
  missingAccessText,
  missingAccountText,
  unknownAccessText,
} from './messages.ts';
import { gitOnlyObject, type NeededAccess, neededAccess } from './needed-access.ts';
import type { UnitAccount } from './unit-identities.ts';

type CheckContext = Pick<
  SyncContext,
  'client' | 'accounts' | 'allowedAccess' | 'timeouts' | 'clock' | 'store' | 'signal'
>;

/** Rejects only when the server does not answer: then no other unit can be written either. */
export async function withoutDeniedUnits(context: CheckContext, plan: TargetPlan): Promise<TargetPlan> {
  const { accounts = new Map<string, UnitAccount>() } = context;
  const questions = [...accounts].flatMap(([unit, account]) => {
    const needed = neededAccess(plan, unit);
    return needed.length === 0 ? [] : [{ unit, account, needed, gitOnly: gitOnlyObject(plan, unit) }];
  });
  const blocked = new Map<string, BlockedUnit>();
  await runConcurrently(questions, async (question) => {
    const found = await blockedUnit(context, question);
    if (found) blocked.set(question.unit, found);
  });
  return withoutBlockedUnits(plan, blocked, context.store.inventory());
}

interface UnitQuestion {
  readonly unit: string;
  readonly account: UnitAccount;
  readonly needed: readonly NeededAccess[];
  /** An object that no ServiceAccount but that of sync may write. */
  readonly gitOnly: string | undefined;
}

async function blockedUnit(context: CheckContext, question: UnitQuestion): Promise<BlockedUnit | undefined> {
  const { gitOnly } = question;
  if (gitOnly !== undefined) return { reason: IDENTITY_DENIED, because: gitOnlyText(question, gitOnly) };
  try {
    return (await missingAccount(context, question)) ?? (await deniedAccess(context, question));
  } catch (error) {
    if (!isKubeError(error) || stopsAll(error, context)) throw error;
    return { reason: IDENTITY_UNKNOWN, because: unknownAccessText(question, error.message) };
  }
}

/** An API server lets a user impersonate accounts that do not exist: their bindings may outlive them. */
async function missingAccount(
  { client, signal }: CheckContext,
  question: UnitQuestion,
): Promise<BlockedUnit | undefined> {
  try {
    const { metadata } = await client.get(SERVICE_ACCOUNTS, question.account, { signal });
    if (metadata.deletionTimestamp === undefined) return undefined;
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error;
  }
  return { reason: IDENTITY_MISSING, because: missingAccountText(question) };
}

async function deniedAccess(
  { client, clock, signal, allowedAccess = createAllowedAccess(clock) }: CheckContext,
  question: UnitQuestion,
): Promise<BlockedUnit | undefined> {
  const account = impersonateServiceAccount(question.account);
  try {
    const asked = { client, account, allowed: allowedAccess, signal };
    const missing = await findMissingAccess(asked, question.needed);
    if (missing.length === 0) return undefined;
    return { reason: IDENTITY_DENIED, because: missingAccessText(question, missing) };
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return { reason: IDENTITY_DENIED, because: impersonationText(question, error.message) };
  }
}

function isForbidden(error: unknown): error is KubeError {
  return isKubeError(error, 'Forbidden');
}
