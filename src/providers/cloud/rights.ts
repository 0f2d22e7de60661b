/** Tries rights in a cloud, and judges what it answers to requests that only check them. */
import {
  type InstanceRequest,
  type InstanceShape,
  isProviderError,
  type ProviderCheck,
  ProviderError,
} from '../contract.ts';

/** The codes of clouds for a request that would have succeeded. */
const DRY_RUN = /^DryRunOperation/;
/** The codes for valid credentials without a right. Every other error of class Auth is about the credentials. */
const NO_RIGHT =
  /^(Unauthorized|AccessDenied|Forbidden|Forbbiden|Forbedden|NoPermission|(Linked)?AuthorizationFailed)/;
/** A UID that no cluster and no Machine has. */
const NO_UID = '00000000-0000-0000-0000-000000000000';

/** Returns what the error of a request shows; undefined as the error: the request was answered. */
export function judgeRight(right: string, error: ProviderError | undefined): ProviderCheck {
  if (error === undefined) return { right, result: 'Allowed', message: 'the request was answered' };
  const { code, reason, message } = error;
  if (DRY_RUN.test(reason)) return { right, result: 'Allowed', message: 'the dry run succeeded' };
  if (code === 'Auth') return { right, result: NO_RIGHT.test(reason) ? 'Missing' : 'Refused', message };
  return { right, result: 'Unknown', message };
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

/**
 * Sends a dry run, and judges its answer. Throws when the server carried the request out, because it does not know dry runs: the next one
 * could delete an instance.
 */
export async function tryDryRun(right: string, send: () => Promise<unknown>): Promise<ProviderCheck> {
  try {
    await send();
  } catch (error) {
    if (isProviderError(error)) return judgeRight(right, error);
    throw error;
  }
  const message = `the server carried out the dry run of ${right}: use an endpoint that knows dry runs`;
  throw new ProviderError('Terminal', message, { reason: 'NoDryRun' });
}

/** Returns the check of a right that was not tried. */
export function untriedRight(right: string, hint: string): ProviderCheck {
  return { right, result: 'Unknown', message: `not tried: ${hint}` };
}

export const NO_CONFIG = 'add --set with a MachineSet whose config to try';
const NO_INSTANCE = 'no instance of kubenode exists: check again after the first one is created';

/** Returns a request for such an instance, with UIDs that no cluster and no Machine has. */
export function checkRequest(shape: InstanceShape): InstanceRequest {
  return { ...shape, machine: 'check', tags: { clusterUid: NO_UID, machineUid: NO_UID } };
}

/** Tries one call on one instance. */
export interface InstanceRights<Call extends string> {
  /** The calls, in the order in which they are tried, and the prefix that makes them rights. */
  readonly calls: readonly Call[];
  readonly prefix: string;
  /** Returns an instance with our tags, of any cluster: a policy may allow these calls only by our tags. */
  readonly find: () => Promise<string | undefined>;
  readonly tryOn: (call: Call, instanceId: string) => Promise<ProviderCheck>;
}

/** Forms the checks of rights that need an instance, which is looked up once. */
export function checksOnInstance<Call extends string>({
  calls,
  prefix,
  find,
  tryOn,
}: InstanceRights<Call>): readonly (() => Promise<ProviderCheck>)[] {
  let found: Promise<FoundInstance> | undefined;
  return calls.map((call) => async () => {
    found ??= findInstance(find);
    const { id, hint } = await found;
    return id === undefined ? untriedRight(`${prefix}${call}`, hint) : await tryOn(call, id);
  });
}

interface FoundInstance {
  readonly id?: string | undefined;
  readonly hint: string;
}

/** A list that failed does not show that no instance exists. */
async function findInstance(find: () => Promise<string | undefined>): Promise<FoundInstance> {
  try {
    return { id: await find(), hint: NO_INSTANCE };
  } catch (error) {
    if (isProviderError(error)) return { hint: `the instances cannot be listed: ${error.message}` };
    throw error;
  }
}

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
