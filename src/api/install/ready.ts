/** Waits until the installation is in force, so that nothing has to be retried after it. */
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import { nameOf } from '../../kube/client/paths.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { Clock } from '../../os/clock.ts';
import { pollUntil } from '../../os/poll.ts';
import { GROUP, NAMESPACE_AGENTS } from '../names.ts';
import { initialLedger } from '../policies/ledger.ts';
import { resourceOf } from './objects.ts';
import { type CustomResourceDefinition, crdState } from './plan.ts';

const POLL_MS = 100;

export interface WaitOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  /** Deadline on the monotonic clock. */
  readonly end: number;
}

/** Waits for the kind to be served. Returns why it is not. */
export async function notServedReason(
  client: Client,
  crd: CustomResourceDefinition,
  waitOptions: WaitOptions,
): Promise<string | undefined> {
  let reason: string | undefined;
  const isDecided = async (): Promise<boolean> => {
    const { established, refusal } = crdState(
      await client.get<CustomResourceDefinition>(resourceOf(crd), nameOf(crd)),
    );
    reason = refusal;
    return established || refusal !== undefined;
  };
  return (await poll(isDecided, waitOptions)) ? reason : 'not served yet. Check the conditions in its status';
}

/**
 * Dry runs show it. The policy that was written last denies a request, so those before it are in force too. And a Machine
 * and a Lease can be created: until the server has read the parameters of a policy, it denies all requests that match it.
 */
export async function waitUntilInForce(client: Client, waitOptions: WaitOptions): Promise<void> {
  await until(client, initialLedger, waitOptions, (error) => isKubeError(error, 'Forbidden'));
  for (const probe of PROBES) {
    // Forbidden is fine here: the cluster may have other policies, and the installer need not be allowed to write these.
    await until(
      client,
      probe,
      waitOptions,
      (error) => error === undefined || isKubeError(error, 'Forbidden'),
    );
  }
}

const NAME = 'kubenode-install-probe';
/** One for each kind of parameters: the ledger, and Machines. */
const PROBES: readonly KubeObject[] = [
  {
    apiVersion: `${GROUP}/v1alpha1`,
    kind: 'Machine',
    metadata: { name: NAME },
    spec: { infra: { provider: 'local' } },
  },
  {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: NAME, namespace: NAMESPACE_AGENTS },
    spec: {},
  },
];

/** Repeats a dry run of this creation until it has the expected result. */
async function until(
  client: Client,
  probe: KubeObject,
  waitOptions: WaitOptions,
  isExpected: (error: unknown) => boolean,
): Promise<void> {
  let error: unknown;
  const isDone = async (): Promise<boolean> => {
    error = await client.create(resourceOf(probe), probe, { dryRun: true }).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return isExpected(error);
  };
  if (await poll(isDone, waitOptions)) return;
  throw new Error('the policies are written, but not in force yet', { cause: error });
}

function poll(isDone: () => Promise<boolean>, { clock, end, signal }: WaitOptions): Promise<boolean> {
  return pollUntil(isDone, { clock, everyMs: POLL_MS, deadlineMs: end, signal });
}
