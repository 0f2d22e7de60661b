/**
 * Decides what the instance of a machine needs next. A create is always preceded by a search for what exists: after a crash, or
 * an answer that was lost, the instance is found by its tags. Pure.
 */
import type { Machine } from '../../../api/generated/types.ts';
import { FINALIZER_MACHINE } from '../../../api/names.ts';
import { tokenRecordOf } from '../../../api/secrets/bootstrap-token.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { Instance, InstanceShape } from '../../../providers/contract.ts';
import { holdInForce } from '../../../rollout/holds.ts';

/** Holds what the provider answers about the spec of this machine. */
export interface ProviderFacts {
  readonly configReason: string | undefined;
  readonly needsBootstrap: boolean;
  readonly startsStopped: boolean;
  readonly bootstrapsOnce: boolean;
}

export interface InstancePlanInput {
  readonly machine: Machine;
  readonly node: KubeObject | undefined;
  readonly provider: ProviderFacts;
  /** The instance that was found by its id, or without one by its tags. */
  readonly found: Instance | undefined;
  /** Whether the agent has a certificate. */
  readonly hasJoined: boolean;
  /** When this process last gave the host a bootstrap file. */
  readonly deliveredAt: Date | undefined;
  readonly now: Date;
}

export type InstanceDecision = {
  readonly because: string;
} /** The reason why there is nothing to do for a person to see in a condition. */ & (
  | { readonly type: 'Nothing'; readonly reason?: 'NeverJoined' }
  | { readonly type: 'Adopt'; readonly instance: Instance }
  | { readonly type: 'Create'; readonly withBootstrap: boolean }
  | { readonly type: 'PowerOn'; readonly id: string }
);

/** How long the view of the Machine may lag behind the record of a token. */
const DELIVERY_MS = 60_000;

const NEVER_JOINED =
  'the bootstrap token ended before the host joined. Read the console output of the instance, then delete the Machine; its set creates another one';

export function planInstance(situation: InstancePlanInput): InstanceDecision {
  const { machine, provider, found } = situation;
  const because = waitReason(situation);
  if (because !== undefined) return { type: 'Nothing', because };
  if (machine.status?.infra?.providerID === undefined) {
    if (found) return { type: 'Adopt', instance: found, because: `${found.id} has the UID of this Machine` };
    return { type: 'Create', withBootstrap: provider.needsBootstrap, because: 'the Machine has no instance' };
  }
  // Its UID creates no second instance: a set replaces the machine.
  if (!found) return { type: 'Nothing', because: 'the instance was not found' };
  return planFound(situation, found);
}

function planFound(situation: InstancePlanInput, { id, state }: Instance): InstanceDecision {
  if (state === 'Stopped' && situation.provider.startsStopped) {
    if (mayLackBootstrap(situation)) {
      return { type: 'Create', withBootstrap: true, because: 'the instance stopped before the host joined' };
    }
    return { type: 'PowerOn', id, because: 'the instance is stopped' };
  }
  if (state === 'Running' && needsDelivery(situation)) {
    if (situation.provider.bootstrapsOnce) {
      return { type: 'Nothing', reason: 'NeverJoined', because: NEVER_JOINED };
    }
    return {
      type: 'Create',
      withBootstrap: true,
      because: 'the bootstrap token ended before the host joined',
    };
  }
  return { type: 'Nothing', because: `the instance is ${state}` };
}

function waitReason({ machine, node, provider, now }: InstancePlanInput): string | undefined {
  const { deletionTimestamp, finalizers = [] } = machine.metadata;
  if (deletionTimestamp !== undefined) return 'the Machine is being deleted';
  if (provider.configReason !== undefined) return provider.configReason;
  // Without it the Machine could be deleted before its instance.
  if (!finalizers.includes(FINALIZER_MACHINE)) return 'the finalizer is not on the Machine yet';
  return holdInForce(machine, node, now)?.scope === 'All' ? 'the machine is held' : undefined;
}

/** Tells whether the host may lack its bootstrap file: the create may have ended, with its process, before the host had it. */
function mayLackBootstrap({ provider, hasJoined, deliveredAt, now }: InstancePlanInput): boolean {
  if (!provider.needsBootstrap || hasJoined) return false;
  return !deliveredAt || now.getTime() - deliveredAt.getTime() >= DELIVERY_MS;
}

function needsDelivery(situation: InstancePlanInput): boolean {
  const { machine, now } = situation;
  if (!mayLackBootstrap(situation)) return false;
  const record = tokenRecordOf(machine);
  // A token that was used is deleted earlier: until its end the host may still get its certificate.
  return record === undefined || now >= new Date(record.expiresAt);
}

export function shapeOf({ spec }: Machine): InstanceShape {
  const { infra, host, zone } = spec;
  return {
    config: infra.config,
    host: host.type,
    ...(zone === undefined ? {} : { zone }),
  };
}

/**
 * Tells whether the machine may have an instance, also one that is not recorded because the answer to its creation was lost. A
 * host that joins by itself has no config.
 */
export function mayHaveInstance({ spec, status }: Machine): boolean {
  return status?.infra?.providerID !== undefined || Object.keys(spec.infra.config).length > 0;
}
