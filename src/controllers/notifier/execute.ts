/** Sends what is due for a job, and records what was delivered in an annotation of it. */
import { REMEDY_OPERATION_JOBS } from '../../api/generated/resources.ts';
import type { RemedyOperationJob } from '../../api/generated/types.ts';
import { ANNOTATION_NOTIFIED, EVENT_PREFIX, MANAGER_NOTIFIER } from '../../api/names.ts';
import type { ReconcileResult } from '../../kube/controller/controller.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import type { NoticeMetrics } from './metrics.ts';
import { type Delivered, type Delivery, withDelivered } from './plan.ts';
import type { Receivers, SendOutcome } from './receivers/receivers.ts';

export interface DeliverParts {
  readonly receivers: Receivers;
  readonly metrics: NoticeMetrics;
  readonly context: ReconcileContext;
}

interface Sent {
  readonly delivery: Delivery;
  readonly result: SendOutcome;
}

/**
 * A process that ends between the answer of a receiver and the record sends the notice again, with the same id. So it is delivered at
 * least once.
 */
export async function deliver(
  job: RemedyOperationJob,
  due: readonly Delivery[],
  { delivered, ...parts }: DeliverParts & { readonly delivered: Delivered },
): Promise<ReconcileResult> {
  const { receivers, context } = parts;
  const sent: readonly Sent[] = await Promise.all(
    due.map(async (delivery) => ({ delivery, result: await receivers.send(delivery, context.signal) })),
  );
  for (const each of sent) report(job, each, parts);
  const arrived = sent.filter(({ result }) => result.outcome === 'Delivered').map(({ delivery }) => delivery);
  if (arrived.length > 0) await record(job, withDelivered(delivered, arrived, context.clock.now()), context);
  const waits = sent.flatMap(({ result }) => (result.outcome === 'Delivered' ? [] : [result.retryMs]));
  if (waits.length === 0) return {};
  return { requeueAt: new Date(context.clock.now().getTime() + Math.min(...waits)) };
}

async function record(
  { metadata }: RemedyOperationJob,
  delivered: Delivered,
  context: ReconcileContext,
): Promise<void> {
  const annotations = { [ANNOTATION_NOTIFIED]: JSON.stringify(delivered) };
  await context.apply(REMEDY_OPERATION_JOBS, { metadata: { name: metadata.name, annotations } });
}

/** A receiver that is left alone is told about once, when it failed. */
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
  const note = `receiver ${receiver}: ${because}. It is sent again for 24 hours after the step began`;
  const reason = `${EVENT_PREFIX[MANAGER_NOTIFIER]}NotDelivered`;
  context.event(job, { type: 'Warning', reason, action: 'Notify', note });
}
