/**
 * Decides whether the power of a host is read from its BMC. A BMC has few sessions, and a host that reports has power: only a machine that is
 * silent is read, and seldom. Pure.
 */
import { kubeletSign } from '../../../api/diagnosis/evidence.ts';
import type { Machine, MachinePower } from '../../../api/generated/types.ts';
import { SILENT_MS } from '../../../api/machine/heartbeat.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { PowerState } from '../../../providers/power.ts';
import { isPooled } from '../instance/pooled.ts';
import type { Heartbeat } from '../observe.ts';

/** What the BMC answered, or why nothing is known. */
export interface PowerReading {
  readonly at: Date;
  readonly state: PowerState;
  readonly message?: string;
}

export interface PowerInput {
  readonly machine: Machine;
  readonly node: KubeObject | undefined;
  readonly heartbeat: Heartbeat | undefined;
  /** The last reading of this process for this spec. */
  readonly last: PowerReading | undefined;
  readonly isReading: boolean;
  readonly now: Date;
}

export type PowerDecision =
  /** The machine is not silent, or it has no BMC: what was read counts no more. */
  | { readonly type: 'Forget' }
  /** `until`: what is reported changes by time alone. The end of a read triggers a reconcile by itself. */
  | { readonly type: 'Read' | 'Wait'; readonly until?: Date };

/** A repair that changes the power takes minutes, and reads it itself before it acts. */
const AGAIN_MS = 120_000;
/** With so many silent machines that some wait for their turn this long, their power is not known any more. */
const MAX_AGE_MS = 600_000;

export function planPower({ machine, node, heartbeat, last, isReading, now }: PowerInput): PowerDecision {
  if (!mayHaveBmc(machine) || !isSilent(node, heartbeat)) return { type: 'Forget' };
  if (!last) return { type: isReading ? 'Wait' : 'Read' };
  const ageMs = +now - +last.at;
  // The clock may have gone back.
  const isFresh = ageMs >= 0 && ageMs < AGAIN_MS;
  if (isFresh && !isReading) return { type: 'Wait', until: new Date(+last.at + AGAIN_MS) };
  const type = isReading ? 'Wait' : 'Read';
  return isKnown(last, now) ? { type, until: new Date(+last.at + MAX_AGE_MS) } : { type };
}

function isKnown({ at }: PowerReading, now: Date): boolean {
  return +now - +at < MAX_AGE_MS;
}

/** Returns the power as it is reported. A state that does not change is written once. */
export function powerStatus(
  { status }: Machine,
  last: PowerReading | undefined,
  now: Date,
): MachinePower | undefined {
  if (!last || !isKnown(last, now)) return undefined;
  const state = last.state === 'Changing' ? 'Unknown' : last.state;
  const message = last.state === 'Changing' ? 'the power is changing' : last.message;
  const before = status?.power;
  const since = before?.state === state ? before.since : last.at.toISOString();
  return { state, since, ...(message === undefined ? {} : { message }) };
}

/** The entry of a host in a pool may name a BMC. */
function mayHaveBmc(machine: Machine): boolean {
  const { metadata, spec } = machine;
  if (metadata.deletionTimestamp !== undefined || spec.infra.provider !== 'ssh') return false;
  return spec.bmc !== undefined || isPooled(machine);
}

/** A silence that is not reported yet, because many agents are silent at once, is more likely ours. */
function isSilent(node: KubeObject | undefined, heartbeat: Heartbeat | undefined): boolean {
  if (!heartbeat || heartbeat.ageMs <= SILENT_MS || heartbeat.unreportedMs > 0) return false;
  return kubeletSign(node) === 'Silent';
}
