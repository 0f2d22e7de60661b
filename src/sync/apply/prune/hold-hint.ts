/** The words by which a message names a held plan: written by sync, and read by commands where only a message is at hand. Pure. */
import type { Pipeline } from '../../../api/generated/types.ts';
import { DELETES_HELD } from '../../../api/status/sync-words.ts';
import { conditionOf } from '../../../kube/objects/conditions.ts';

export interface HeldPlan {
  readonly unit: string;
  readonly planDigest: string;
}

const HINT = /\backnowledge unit (?<unit>\S+) with planDigest (?<planDigest>sha256:[a-f0-9]{64}) /;

export function holdHint({ unit, planDigest }: HeldPlan): string {
  return `acknowledge unit ${unit} with planDigest ${planDigest} in the Pipeline to release its deletes`;
}

/** Returns undefined when the message names no held plan, or its end is cut off. */
export function readHoldHint(message: string): HeldPlan | undefined {
  const { unit, planDigest } = HINT.exec(message)?.groups ?? {};
  return unit === undefined || planDigest === undefined ? undefined : { unit, planDigest };
}

/**
 * Returns the held plan of the objects that the Pipeline declares for the hub itself. Its condition may report the plan of a
 * cluster instead, in the same words and with another reason.
 */
export function hubHoldOf({ status }: Pick<Pipeline, 'status'>): HeldPlan | undefined {
  const held = conditionOf(status?.conditions, 'Held');
  return held?.status === 'True' && held.reason === DELETES_HELD ? readHoldHint(held.message) : undefined;
}
