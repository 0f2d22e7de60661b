/** Starts the webhook server of sync for the flags --webhook-port and --webhook-host. */
import type { Log } from '../../../kube/process/log.ts';
import type { Metrics } from '../../../kube/process/metrics.ts';
import { type HookServer, startHookServer } from '../../../kube/webhook/server.ts';
import { SYNC_WEBHOOK_REQUESTS } from '../../../observability/metrics/sync.ts';
import type { Clock } from '../../../os/clock.ts';
import type { HubCache } from '../../../sync/hub/hub-cache.ts';
import { createHookIntake } from '../../../sync/intake/intake.ts';
import { createPollRequests } from '../../../sync/intake/poll-requests.ts';

interface WebhookFlags {
  readonly webhookPort?: number;
  readonly webhookHost: string;
}

interface WebhookParts {
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** Rejects when the port is taken. Undefined without the flag. */
export async function serveWebhooks(
  { webhookPort: port, webhookHost: host }: WebhookFlags,
  { stores, recordWebhook }: Pick<HubCache, 'stores' | 'recordWebhook'>,
  { metrics, clock, log }: WebhookParts,
): Promise<HookServer | undefined> {
  if (port === undefined) return undefined;
  const requests = metrics.counter(SYNC_WEBHOOK_REQUESTS);
  const { pipelines, secrets } = stores;
  const requestPoll = createPollRequests({ record: recordWebhook, clock });
  const intake = createHookIntake({ pipelines, secrets, requestPoll, clock, log });
  return await startHookServer({ intake, port, host, log, count: (result) => requests.add({ result }) });
}
