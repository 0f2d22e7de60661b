/** Reads the secret of the webhook of maintenance events, by its name only, and at most once in a while. */
import { NAMESPACE, SECRET_MAINTENANCE_WEBHOOK } from '../../../api/names.ts';
import { readWebhookSecrets } from '../../../api/secrets/webhook.ts';
import type { Client } from '../../../kube/client/client.ts';
import { unlessMissing } from '../../../kube/client/errors.ts';
import { SECRETS } from '../../../kube/objects/core-kinds.ts';
import type { Log } from '../../../kube/process/log.ts';
import type { Clock } from '../../../os/clock.ts';
import { messageOf } from '../../../os/errors.ts';

export interface WebhookSecretOptions {
  readonly client: Pick<Client, 'get'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Resolves to the secrets; undefined: they cannot be used now, and the log has the reason. */
export type ReadWebhookSecrets = () => Promise<readonly string[] | undefined>;

/** A changed Secret is used within this time, and forged requests cause no more reads than that. */
const KEEP_MS = 10_000;

const REFERENCE = {
  name: SECRET_MAINTENANCE_WEBHOOK,
  key: 'secret',
  use: 'maintenance-webhook',
  user: 'kubenode controllers --maintenance-port',
} as const;

export function createWebhookSecrets({ client, clock, log }: WebhookSecretOptions): ReadWebhookSecrets {
  let cached: { readonly atMs: number; readonly found: Promise<readonly string[] | undefined> } | undefined;
  let logged: string | undefined;
  return () => {
    const nowMs = clock.monotonicMs();
    if (!cached || nowMs - cached.atMs >= KEEP_MS) cached = { atMs: nowMs, found: read() };
    return cached.found;
  };

  async function read(): Promise<readonly string[] | undefined> {
    try {
      const secret = await unlessMissing(
        client.get(SECRETS, { name: SECRET_MAINTENANCE_WEBHOOK, namespace: NAMESPACE }),
      );
      const found = readWebhookSecrets({ get: () => secret }, REFERENCE);
      logged = undefined;
      return found;
    } catch (error) {
      const because = messageOf(error);
      if (logged !== because) log.warn('secret of the maintenance webhook cannot be used', { because });
      logged = because;
      return undefined;
    }
  }
}
