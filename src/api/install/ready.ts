/** Waits until what was written is in force: nobody should have to try again after an installation. */
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import { nameOf } from '../../kube/client/paths.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { Clock } from '../../os/clock.ts';
import { pollUntil } from '../../os/poll.ts';
import { GROUP } from '../names.ts';
import { initialLedger } from '../policies/ledger.ts';
import { resourceOf } from './objects.ts';
import { type CustomResourceDefinition, crdState } from './plan.ts';

const POLL_MS = 100;

export interface Patience {
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  /** On the monotonic clock. */
  readonly end: number;
}

/** Why the server does not serve the kind; undefined as soon as it does. */
export async function notServed(
  client: Client,
  crd: CustomResourceDefinition,
  patience: Patience,
): Promise<string | undefined> {
  let reason: string | undefined;
  const isDecided = async (): Promise<boolean> => {
    const { established, objection } = crdState(
      await client.get<CustomResourceDefinition>(resourceOf(crd), nameOf(crd)),
    );
    reason = objection;
    return established || objection !== undefined;
  };
  return (await poll(isDecided, patience)) ? reason : 'not served yet; look at the conditions in its status';
}

/**
 * Two signs. The policy that is written last refuses: then those before it are known to the server as well. And a
 * Machine can be written: until the server has read the parameters of policies it refuses all that they look at.
 */
export async function untilInForce(client: Client, patience: Patience): Promise<void> {
  await until(client, initialLedger, patience, (error) => isKubeError(error, 'Forbidden'));
  // A cluster may have policies of its own, and the installer need not be one who may write Machines.
  await until(client, PROBE, patience, (error) => error === undefined || isKubeError(error, 'Forbidden'));
}

const PROBE: KubeObject = {
  apiVersion: `${GROUP}/v1alpha1`,
  kind: 'Machine',
  metadata: { name: 'kubenode-install-probe' },
  spec: { infra: { provider: 'local' } },
};

/** Until a dry run of this creation ends in the way that is waited for. */
async function until(
  client: Client,
  probe: KubeObject,
  patience: Patience,
  wanted: (error: unknown) => boolean,
): Promise<void> {
  let error: unknown;
  const isExpected = async (): Promise<boolean> => {
    error = await client.create(resourceOf(probe), probe, { dryRun: true }).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return wanted(error);
  };
  if (await poll(isExpected, patience)) return;
  throw new Error('the policies are written, but not in force yet', { cause: error });
}

function poll(isDone: () => Promise<boolean>, { clock, end, signal }: Patience): Promise<boolean> {
  return pollUntil(isDone, { clock, everyMs: POLL_MS, deadlineMs: end, signal });
}
