/**
 * Decides whether the power of a host is read from its BMC. A BMC has few sessions, and a host that reports has power: only a machine that is
 * silent is read, and seldom. Pure.
 */
import { kubeletSign } from '../../../api/diagnosis/evidence.ts';
import type { Machine, MachinePower } from '../../../api/generated/types.ts';
import { SILENT_MS } from '../../../api/machine/heartbeat.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { PowerState } from '../../../providers/power.ts';
import { isPooled } from '../instance/pooled.ts';
import type { Heartbeat } from '../observe.ts';

/** Holds what the BMC answered, or why nothing is known. */
export interface PowerReading {
  readonly at: Date;
  readonly state: PowerState;
  readonly message?: string;
}

export interface PowerReadInput {
  readonly machine: Machine;
  readonly node: KubeObject | undefined;
  readonly heartbeat: Heartbeat | undefined;
  /** The last reading of this process for this spec. */
  readonly last: PowerReading | undefined;
  readonly isReading: boolean;
  readonly now: Date;
}

export type PowerReadDecision =
  /** The machine is not silent, or it has no BMC: what was read counts no more. */
  | { readonly type: 'Forget' }
  /** `until`: what is reported changes by time alone. The end of a read triggers a reconcile by itself. */
  | { readonly type: 'Read' | 'Wait'; readonly until?: Date };

/** A repair that changes the power takes minutes, and reads it itself before it acts. */
const AGAIN_MS = 120_000;
/** With so many silent machines that some wait for their turn this long, their power is not known any more. */
const MAX_AGE_MS = 600_000;

export function planPowerRead({
  machine,
  node,
  heartbeat,
  last,
  isReading,
  now,
}: PowerReadInput): PowerReadDecision {
  if (!mayHaveBmc(machine) || !isSilent(node, heartbeat)) return { type: 'Forget' };
  if (last && isFresh(last, now)) return { type: 'Wait', until: after(last, AGAIN_MS) };
  return { type: isReading ? 'Wait' : 'Read', ...optional('until', knownUntil(last, now)) };
}

/** A reading of the future is not fresh: the clock was set back. */
function isFresh({ at }: PowerReading, now: Date): boolean {
  return at <= now && +now - +at < AGAIN_MS;
}

function isKnown({ at }: PowerReading, now: Date): boolean {
  return +now - +at < MAX_AGE_MS;
}

function knownUntil(last: PowerReading | undefined, now: Date): Date | undefined {
  return last && isKnown(last, now) ? after(last, MAX_AGE_MS) : undefined;
}

function after({ at }: PowerReading, ms: number): Date {
  return new Date(+at + ms);
}

/** Returns the power as it is reported. A state that does not change is written once. */
export function reportedPower(
  { status }: Machine,
  last: PowerReading | undefined,
  now: Date,
): MachinePower | undefined {
  if (!last || !isKnown(last, now)) return undefined;
  const { state, message } = settled(last);
  const before = status?.power;
  const since = before?.state === state ? before.since : last.at.toISOString();
  return { state, since, ...optional('message', message) };
}

function settled({ state, message }: PowerReading): Omit<MachinePower, 'since'> {
  if (state === 'Changing') return { state: 'Unknown', message: 'the power is changing' };
  return { state, ...optional('message', message) };
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
