/** Sends what is due for a job, and records what was delivered in an annotation of it. */
import { REMEDY_OPERATION_JOBS } from '../../api/generated/resources.ts';
import type { RemedyOperationJob } from '../../api/generated/types.ts';
import { ANNOTATION_NOTIFIED, EVENT_PREFIX, MANAGER_NOTIFIER } from '../../api/names.ts';
import type { Delivered } from '../../api/status/step-records.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import type { SendOutcome } from '../../os/net/sender.ts';
import type { NoticeMetrics } from './metrics.ts';
import { DELIVERED_WITHIN_HOURS, type Delivery } from './plan.ts';
import type { Receivers } from './receivers/receivers.ts';

export interface DeliverParts {
  readonly receivers: Receivers;
  readonly metrics: NoticeMetrics;
  readonly context: ReconcileContext;
}

interface Sent {
  readonly delivery: Delivery;
  readonly result: SendOutcome;
}

export interface DeliveryResult {
  readonly arrived: readonly Delivery[];
  /** When what did not arrive is sent again. */
  readonly retryAt?: Date;
}

export async function deliver(
  job: RemedyOperationJob,
  due: readonly Delivery[],
  parts: DeliverParts,
): Promise<DeliveryResult> {
  const { receivers, context } = parts;
  const sent: readonly Sent[] = await Promise.all(
    due.map(async (delivery) => ({ delivery, result: await receivers.send(delivery, context.signal) })),
  );
  for (const each of sent) report(job, each, parts);
  const waits = sent.flatMap(({ result }) => (result.outcome === 'Delivered' ? [] : [result.retryMs]));
  const retryAt = new Date(context.clock.now().getTime() + Math.min(...waits));
  return {
    arrived: sent.filter(({ result }) => result.outcome === 'Delivered').map(({ delivery }) => delivery),
    ...(waits.length > 0 ? { retryAt } : {}),
  };
}

/** A process that ends between the answer of a receiver and this sends the notice again, with the same id: at least once. */
export async function record(
  { metadata }: RemedyOperationJob,
  delivered: Delivered,
  context: ReconcileContext,
): Promise<void> {
  const annotations = { [ANNOTATION_NOTIFIED]: JSON.stringify(delivered) };
  await context.apply(REMEDY_OPERATION_JOBS, { metadata: { name: metadata.name, annotations } });
}

/** A receiver that is left alone is reported once, when it failed. */
function report(
  job: RemedyOperationJob,
  { delivery, result }: Sent,
  { metrics, context }: DeliverParts,
): void {
  const { receiver, notice } = delivery;
  const { outcome } = result;
  if (outcome === 'Postponed') return;
  metrics.sent(receiver, outcome);
  const fields = { receiver, notice: notice.id, machine: notice.machine };
  if (outcome === 'Delivered') {
    context.log.info('notice delivered', fields);
    return;
  }
  const { because } = result;
  context.log.warn('notice not delivered', { ...fields, because });
  const since = notice.event === 'Opened' ? 'the step began' : 'the machine needed no person any more';
  const note = `receiver ${receiver}: ${because}. It is sent again for ${DELIVERED_WITHIN_HOURS} hours after ${since}`;
  const reason = `${EVENT_PREFIX[MANAGER_NOTIFIER]}NotDelivered`;
  context.event(job, { type: 'Warning', reason, action: 'Notify', note });
}
