/** Holds what a process remembers of the instances that it acts on. Another process finds everything again. */
import type { Machine } from '../../../api/generated/types.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { isProviderError, type Provider, type ProviderError } from '../../../providers/contract.ts';
import type { Bootstrap, InstanceParts } from './calls.ts';
import type { InfraObservation } from './findings.ts';
import type { LastRead } from './last-read.ts';
import { shapeOf } from './plan.ts';
import { type CapacityGate, type CapacityRefusal, capacityKey } from './preflight/capacity.ts';

/** The token that this process gave to a host. Other processes do not know it: without it a host gets another token. */
export interface BootstrapDelivery {
  readonly bootstrap: Bootstrap;
  readonly at: Date;
}

/** A failed call. Until its time is over the provider is not called again, whatever triggers a reconcile. */
export interface CallFailure {
  readonly error: ProviderError;
  readonly generation: number | undefined;
  readonly until: Date;
}

/** Holds what all acts on instances of this process share. */
export interface InstanceScope extends InstanceParts {
  readonly delivered: Map<string, BootstrapDelivery>;
  readonly failures: Map<string, CallFailure>;
  readonly reads: Map<string, LastRead>;
  readonly capacity: CapacityGate;
  readonly context: ReconcileContext;
}

export interface InstanceAct {
  readonly machine: Machine;
  readonly provider: Provider;
  readonly act: InstanceScope;
}

/** Holds what was observed of a host, and when to observe it again after a failure. */
export interface ObservedHost {
  readonly observation: InfraObservation;
  readonly retryMs?: number;
}

/** Returns the failure of the last call, until its time is over. */
export function lastFailure(machine: Machine, act: InstanceScope): ObservedHost | undefined {
  const { failures, context } = act;
  const { uid = '', generation } = machine.metadata;
  const now = context.clock.now();
  const failure = failures.get(uid);
  if (!failure || failure.generation !== generation) return undefined;
  const { error, until } = sharedRefusal(machine, failure, act) ?? failure;
  const leftMs = until.getTime() - now.getTime();
  return leftMs <= 0 ? undefined : { observation: { host: 'Failed', error }, retryMs: leftMs };
}

/** An instance that was refused was searched for, and does not exist: while others are refused the same, it is not asked for again. */
function sharedRefusal(
  machine: Machine,
  { error }: CallFailure,
  { capacity, context }: InstanceScope,
): CapacityRefusal | undefined {
  if (!isProviderError(error, 'Quota')) return undefined;
  return capacity.take(keyOf(machine), machine.metadata.uid ?? '', context.clock.now());
}

export function keyOf(machine: Machine): string {
  return capacityKey(machine.spec.infra.provider, shapeOf(machine));
}
