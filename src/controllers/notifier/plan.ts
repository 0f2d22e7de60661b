/** Decides which notices of a job are sent to which receivers now. Pure. */
import { type Delivered, RESOLVED } from '../../api/status/step-records.ts';
import { ownValue } from '../../kube/objects/json.ts';
import type { Notice, NoticeSeverity } from './notice.ts';

export interface ReceiverSelection {
  readonly name: string;
  /** Undefined: all. */
  readonly severities?: readonly NoticeSeverity[];
  /** Undefined: all. */
  readonly queues?: readonly string[];
  /** Whether it is notified when the machine needs no person any more. */
  readonly sendResolved?: boolean;
}

export interface Delivery {
  readonly receiver: string;
  readonly notice: Notice;
}

/** A receiver that is down for a night gets what it missed. A receiver that is added gets nothing that is older. */
export const DELIVERED_WITHIN_HOURS = 24;

export function planDeliveries(
  notices: readonly Notice[],
  selections: readonly ReceiverSelection[],
  { delivered, now }: { readonly delivered: Delivered; readonly now: Date },
): readonly Delivery[] {
  return selections.flatMap((selection) =>
    notices
      .filter((notice) => takes(selection, notice))
      .filter((notice) => !isDelivered(delivered, selection.name, recordKeyOf(notice)))
      .filter((notice) => isOpenFor(selection, notice, delivered))
      .filter(({ at }) => now.getTime() - Date.parse(at) < DELIVERED_WITHIN_HOURS * 3_600_000)
      .map((notice) => ({ receiver: selection.name, notice })),
  );
}

/** A receiver that got no notice of a step has nothing that could end. */
function isOpenFor(
  { name, sendResolved }: ReceiverSelection,
  { event, stepId }: Notice,
  delivered: Delivered,
): boolean {
  return event === 'Opened' || (sendResolved === true && isDelivered(delivered, name, stepId));
}

function recordKeyOf({ event, stepId }: Notice): string {
  return event === 'Opened' ? stepId : `${stepId}${RESOLVED}`;
}

/** A receiver may be named `constructor`, and a step `name`. */
function isDelivered(delivered: Delivered, receiver: string, key: string): boolean {
  return ownValue(ownValue(delivered, receiver) ?? {}, key) !== undefined;
}

function takes({ severities, queues }: ReceiverSelection, { severity, queue }: Notice): boolean {
  return (severities?.includes(severity) ?? true) && (queues?.includes(queue) ?? true);
}

/** Returns the record with these deliveries. Receivers that are not configured any more keep what they got. */
export function withDelivered(before: Delivered, sent: readonly Delivery[], now: Date): Delivered {
  const after: Record<string, Readonly<Record<string, string>>> = { ...before };
  for (const { receiver, notice } of sent) {
    after[receiver] = { ...after[receiver], [recordKeyOf(notice)]: now.toISOString() };
  }
  return after;
}
