/** The words by which a message names a held plan: written by sync, and read by commands where only a message is at hand. Pure. */

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
