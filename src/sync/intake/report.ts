/** Reports for the status of a Pipeline whether sync receives its webhook. Pure. */
import type { Pipeline } from '../../api/generated/types.ts';
import type { Store } from '../../kube/cache/store.ts';
import type { WebhookReport } from '../commits.ts';
import { hookSecretReason } from './secrets.ts';

/** Returns undefined for a Pipeline without webhook. */
export function webhookReport(
  pipeline: Pipeline | undefined,
  secrets: Pick<Store, 'get'>,
  { receivesWebhooks }: { readonly receivesWebhooks: boolean },
): WebhookReport | undefined {
  if (!pipeline?.spec.source.webhookSecretRef) return undefined;
  const message = hookSecretReason(pipeline, secrets);
  if (message !== undefined) return { problem: { reason: 'SecretInvalid', message } };
  return receivesWebhooks ? {} : { problem: NOT_SERVED };
}

const NOT_SERVED = {
  reason: 'NotServed',
  message:
    'this sync receives no webhooks: start kubenode sync with --webhook-port. Until then each push is found by a poll',
};
