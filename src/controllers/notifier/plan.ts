/** Decides which notices of a job are sent to which receivers now. Pure. */
import type { Delivered } from '../../api/status/step-records.ts';
import { ownValue } from '../../kube/objects/json.ts';
import type { Notice, NoticeSeverity } from './notice.ts';

export interface ReceiverSelection {
  readonly name: string;
  /** Undefined: all. */
  readonly severities?: readonly NoticeSeverity[];
  /** Undefined: all. */
  readonly queues?: readonly string[];
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
      .filter(({ stepId }) => !isDelivered(delivered, selection.name, stepId))
      .filter(({ at }) => now.getTime() - Date.parse(at) < DELIVERED_WITHIN_HOURS * 3_600_000)
      .map((notice) => ({ receiver: selection.name, notice })),
  );
}

/** A receiver may be named `constructor`, and a step `name`. */
function isDelivered(delivered: Delivered, receiver: string, stepId: string): boolean {
  return ownValue(ownValue(delivered, receiver) ?? {}, stepId) !== undefined;
}

function takes({ severities, queues }: ReceiverSelection, { severity, queue }: Notice): boolean {
  return (severities?.includes(severity) ?? true) && (queues?.includes(queue) ?? true);
}

/** Returns the record with these deliveries. Receivers that are not configured any more keep what they got. */
export function withDelivered(before: Delivered, sent: readonly Delivery[], now: Date): Delivered {
  const after: Record<string, Readonly<Record<string, string>>> = { ...before };
  for (const { receiver, notice } of sent) {
    after[receiver] = { ...after[receiver], [notice.stepId]: now.toISOString() };
  }
  return after;
}
