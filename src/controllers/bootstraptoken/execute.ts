/**
 * Creates and deletes the bootstrap token of one Machine, as kubenode-machine: its agent gets its first certificate with it. The
 * approver has the last word; what is refused here would be denied there.
 */

import { MACHINES } from '../../api/generated/resources.ts';
import {
  ANNOTATION_BOOTSTRAP_TOKEN,
  BOOTSTRAP_GROUP,
  bootstrapGroupOf,
  bootstrapTokenSecret,
  LABEL_MACHINE,
  MANAGER_MACHINE,
  NAMESPACE_KUBE_SYSTEM,
} from '../../api/names.ts';
import {
  BOOTSTRAP_TOKEN_SECONDS,
  type BootstrapTokenRecord,
  formatTokenRecord,
  tokenRecordOf,
} from '../../api/secrets/bootstrap-token.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { pointerTo } from '../../kube/controller/writes/json-patch.ts';
import { SECRETS } from '../../kube/objects/core-kinds.ts';
import { valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import { secondsAfter, wholeSeconds } from '../../os/dates.ts';
import type { TokenPlan } from './plan.ts';

export interface CreateTokenOptions {
  readonly client: Client;
  readonly machine: string;
  readonly now: Date;
  /** An integer from 0 to below this, from a secure source. */
  readonly randomInt: (below: number) => number;
  readonly seconds?: number;
}

export interface BootstrapToken {
  /** `<id>.<secret>`: for the host only. */
  readonly token: string;
  readonly expiresAt: string;
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** The newest token is the only one that the approver accepts, so the record comes last: without it the token is worth nothing. */
export async function createBootstrapToken(options: CreateTokenOptions): Promise<BootstrapToken> {
  const { client, machine: name, now, randomInt, seconds = BOOTSTRAP_TOKEN_SECONDS } = options;
  const machine = await client.get(MACHINES, { name });
  const [id, secret] = [randomText(6, randomInt), randomText(16, randomInt)];
  const expiresAt = wholeSeconds(secondsAfter(now, seconds));
  const created = await client.create(SECRETS, secretOf(machine, { id, secret, expiresAt }));
  await writeRecord(client, machine, { id, expiresAt, secretUid: created.metadata.uid ?? '' });
  return { token: `${id}.${secret}`, expiresAt };
}

/** Agents and controllers write their parts of the Machine at any time. */
const RECORD_ATTEMPTS = 5;

async function writeRecord(client: Client, machine: KubeObject, token: NewToken): Promise<void> {
  const { name, uid } = machine.metadata;
  for (let attempt = 1, found = machine; ; attempt += 1) {
    const annotations = { [ANNOTATION_BOOTSTRAP_TOKEN]: formatTokenRecord(recordFor(found, token)) };
    // The token is for this UID: another Machine of the same name is a conflict each time.
    const body = { metadata: { uid, resourceVersion: found.metadata.resourceVersion, annotations } };
    try {
      await client.patch(MACHINES, { name }, { type: 'merge', body }, { fieldManager: MANAGER_MACHINE });
      return;
    } catch (error) {
      if (attempt === RECORD_ATTEMPTS || !isKubeError(error, 'Conflict')) throw error;
      found = await client.get(MACHINES, { name });
    }
  }
}

type NewToken = Pick<BootstrapTokenRecord, 'id' | 'expiresAt' | 'secretUid'>;

function recordFor(machine: KubeObject, token: NewToken): BootstrapTokenRecord {
  const found = valueAt(machine, 'spec', 'agentEpoch');
  const epoch = typeof found === 'number' ? found : 0;
  const before = tokenRecordOf(machine);
  // What the token before it could replace and did not, this one may.
  const isLeft = before?.epoch === epoch && before.replacesAgent;
  return { ...token, epoch, replacesAgent: isLeft || epoch > (before?.epoch ?? 0) };
}

function secretOf(
  { metadata: { name, uid = '' } }: KubeObject,
  { id, secret, expiresAt }: { readonly id: string; readonly secret: string; readonly expiresAt: string },
): KubeObject {
  return {
    apiVersion: 'v1',
    kind: SECRETS.kind,
    type: 'bootstrap.kubernetes.io/token',
    metadata: {
      name: bootstrapTokenSecret(id),
      namespace: NAMESPACE_KUBE_SYSTEM,
      labels: { [LABEL_MACHINE]: name },
    },
    stringData: {
      'token-id': id,
      'token-secret': secret,
      expiration: expiresAt,
      'usage-bootstrap-authentication': 'true',
      'auth-extra-groups': `${BOOTSTRAP_GROUP},${bootstrapGroupOf(uid)}`,
    },
  };
}

function randomText(length: number, randomInt: (below: number) => number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

export async function deleteBootstrapToken(
  machine: KubeObject,
  record: BootstrapTokenRecord,
  { used, because }: Extract<TokenPlan, { type: 'Delete' }>,
  context: ReconcileContext,
): Promise<void> {
  const { secretUid: _, ...rest } = record;
  await deleteSecret(record, context);
  const { name } = machine.metadata;
  context.log.info('bootstrap token deleted', { machine: name, token: record.id, because });
  const replacesAgent = record.replacesAgent && !used;
  await context.patch(MACHINES, machine as never, [
    {
      op: 'replace',
      path: pointerTo('metadata', 'annotations', ANNOTATION_BOOTSTRAP_TOKEN),
      value: formatTokenRecord({ ...rest, replacesAgent }),
    },
  ]);
}

/** By its UID: another token that got the same id stays. */
async function deleteSecret(
  { id, secretUid }: BootstrapTokenRecord,
  context: ReconcileContext,
): Promise<void> {
  const metadata = {
    name: bootstrapTokenSecret(id),
    namespace: NAMESPACE_KUBE_SYSTEM,
    ...optional('uid', secretUid),
  };
  try {
    await context.delete(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata });
  } catch (error) {
    if (!isKubeError(error, 'Conflict')) throw error;
  }
}
