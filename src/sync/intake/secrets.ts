/** Reads the secrets of the webhook of a Pipeline. */
import { PIPELINES } from '../../api/generated/resources.ts';
import type { Pipeline } from '../../api/generated/types.ts';
import { SecretError } from '../../api/secrets/read.ts';
import { secretReferences } from '../../api/secrets/references.ts';
import { readWebhookSecrets } from '../../api/secrets/webhook.ts';
import type { Store } from '../../kube/cache/store.ts';

/** Returns the secrets of the webhook. Undefined: the Pipeline has none. Throws SecretError. */
export function readHookSecrets(
  pipeline: Pipeline,
  secrets: Pick<Store, 'get'>,
): readonly string[] | undefined {
  const reference = secretReferences(PIPELINES.kind, pipeline).find(({ use }) => use === 'git-webhook');
  return reference && readWebhookSecrets(secrets, reference);
}

/** Returns why the webhook of a Pipeline cannot be used; undefined: it can, or there is none. */
export function hookSecretReason(pipeline: Pipeline, secrets: Pick<Store, 'get'>): string | undefined {
  try {
    readHookSecrets(pipeline, secrets);
    return undefined;
  } catch (error) {
    if (error instanceof SecretError) return error.message;
    throw error;
  }
}
