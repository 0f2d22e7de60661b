/** Tries rights in a cloud, and judges what it answers to requests that only check them. */
import { isProviderError, type ProviderCheck, type ProviderError } from '../contract.ts';

/** The codes of clouds for a request that would have succeeded. */
const DRY_RUN = /^DryRunOperation/;
/** The codes for valid credentials without a right. Every other error of class Auth is about the credentials. */
const NO_RIGHT =
  /^(Unauthorized|AccessDenied|Forbidden|Forbbiden|Forbedden|NoPermission|AuthorizationFailed)/;

/** Returns what the error of a dry run shows; undefined as the error: the request was answered. */
export function judgeRight(right: string, error: ProviderError | undefined): ProviderCheck {
  if (error === undefined) return { right, result: 'Allowed', message: 'the request was answered' };
  const { code, reason, message } = error;
  if (DRY_RUN.test(reason)) return { right, result: 'Allowed', message: 'the dry run succeeded' };
  if (code === 'Auth') {
    return { right, result: NO_RIGHT.test(reason) ? 'Missing' : 'Refused', message: `${reason}: ${message}` };
  }
  return { right, result: 'Unknown', message: `${reason}: ${message}` };
}

/** Sends the request that needs the right, and judges its answer. */
export async function tryRight(right: string, send: () => Promise<unknown>): Promise<ProviderCheck> {
  try {
    await send();
    return judgeRight(right, undefined);
  } catch (error) {
    if (isProviderError(error)) return judgeRight(right, error);
    throw error;
  }
}

/** Returns the check of a right for which there is nothing to try it on. */
export function untriedRight(right: string, hint: string): ProviderCheck {
  return { right, result: 'Unknown', message: `not tried: ${hint}` };
}

export const NO_INSTANCE = 'no instance of kubenode exists. Check again when there is one';
export const NO_CONFIG = 'add --set with a MachineSet whose config to try';

/** Returns what the checks show after the first one that refuses the credentials: the others would only repeat it. */
export async function checkInOrder(
  checks: readonly (() => Promise<ProviderCheck>)[],
): Promise<readonly ProviderCheck[]> {
  const done: ProviderCheck[] = [];
  for (const check of checks) {
    // oxlint-disable-next-line no-await-in-loop -- the first one shows whether the credentials are valid
    const result = await check();
    done.push(result);
    if (result.result === 'Refused') break;
  }
  return done;
}
