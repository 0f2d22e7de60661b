/** Creates, starts and deletes the instances of machines. Every call may be repeated: the UID of the Machine is its token. */
import type { Machine, MachineImport, MachineInfraStatus } from '../../../api/generated/types.ts';
import { EVENT_PREFIX, MANAGER_MACHINE } from '../../../api/names.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Instance, Provider } from '../../../providers/contract.ts';
import { followedConfigReason, followedObject, isFollowed } from '../../../providers/followed.ts';
import { findProviderEntry } from '../../../providers/registry.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import type { Finding } from '../finding.ts';
import {
  type BootstrapDelivery,
  type CallFailure,
  type InstanceAct,
  type InstanceScope,
  lastFailure,
  type ObservedHost,
} from './act.ts';
import { findInstance, type InstanceParts, providerFailure, retryAfterMs, tagsOf } from './calls.ts';
import { carryOutInstance } from './carry-out.ts';
import { type InfraObservation, infraFindings, infraStatus } from './findings.ts';
import { type LastRead, unchangedInstance } from './last-read.ts';
import { type InstanceDecision, planInstance, shapeOf } from './plan.ts';
import { createCapacityGate } from './preflight/capacity.ts';
import { type RemovalWait, removeInstance, withPooledHost } from './removal.ts';

export interface InstanceInput {
  readonly machine: Machine;
  readonly node: KubeObject | undefined;
  readonly hasJoined: boolean;
}

export interface InfraReport {
  readonly findings: readonly Finding[];
  /** The infra status as it has to be written. */
  readonly status: MachineInfraStatus | undefined;
  /** How the host is imported that the provider has taken for the machine. */
  readonly import?: MachineImport;
  readonly requeueAt?: Date;
}

export interface Instances {
  ensure(input: InstanceInput, context: ReconcileContext): Promise<InfraReport>;
  /** Returns the machine with the host that its provider has taken for it, or why that is not known. */
  withHost(machine: Machine, context: ReconcileContext): Promise<Machine | RemovalWait>;
  /** Deletes the instance. Returns undefined when nothing of it is left, otherwise why something may be, and when to call again. */
  remove(machine: Machine, context: ReconcileContext): Promise<RemovalWait | undefined>;
  /** Lets go of an instance that may not be clean, where its provider can. Otherwise it is deleted. */
  abandon(machine: Machine, context: ReconcileContext): Promise<RemovalWait | undefined>;
  forget(machine: Machine): void;
}

/** How often an instance is observed until its host joins. Afterwards its heartbeat is observed. */
const STARTING_MS = 10_000;

export function createInstances(parts: InstanceParts): Instances {
  const delivered = new Map<string, BootstrapDelivery>();
  const failures = new Map<string, CallFailure>();
  const reads = new Map<string, LastRead>();
  const capacity = createCapacityGate();
  return {
    ensure: (input, context) => ensure(input, { ...parts, delivered, failures, reads, capacity, context }),
    withHost: (machine, context) => withPooledHost(machine, parts, context),
    remove: (machine, context) => removeInstance(machine, parts, { context, how: 'Delete' }),
    abandon: (machine, context) => removeInstance(machine, parts, { context, how: 'Abandon' }),
    forget({ metadata: { uid = '' } }) {
      delivered.delete(uid);
      failures.delete(uid);
      reads.delete(uid);
    },
  };
}

async function ensure(input: InstanceInput, act: InstanceScope): Promise<InfraReport> {
  const { machine, hasJoined } = input;
  const { clock } = act.context;
  const { observation, retryMs } = await observeInfra(input, act);
  const isStarting = observation.host === 'Instance' && !hasJoined;
  const waitMs = retryMs ?? (isStarting || observation.host === 'Held' ? STARTING_MS : undefined);
  return {
    ...optional('import', observation.host === 'Instance' ? observation.instance?.import : undefined),
    findings: infraFindings(machine, observation),
    status: infraStatus(machine, observation),
    ...optional('requeueAt', waitMs === undefined ? undefined : new Date(clock.now().getTime() + waitMs)),
  };
}

async function observeInfra(input: InstanceInput, act: InstanceScope): Promise<ObservedHost> {
  const { machine } = input;
  if (machine.spec.import) return { observation: { host: 'Imported' } };
  if (isFollowed(machine)) return { observation: observeFollowed(machine) };
  const provider = act.providers[machine.spec.infra.provider];
  if (!provider) return { observation: withoutProvider(machine) };
  const refused = withoutInstance(machine, provider);
  if (refused) return { observation: refused };
  return lastFailure(machine, act) ?? (await advanceOrFail(input, provider, act));
}

async function advanceOrFail(
  input: InstanceInput,
  provider: Provider,
  act: InstanceScope,
): Promise<ObservedHost> {
  const { uid = '', name, generation } = input.machine.metadata;
  const { log, signal, clock } = act.context;
  try {
    const observation = await advance(input, provider, act);
    act.failures.delete(uid);
    return { observation };
  } catch (error) {
    const failure = providerFailure(error, signal);
    const retryMs = retryAfterMs(failure);
    act.failures.set(uid, { error: failure, generation, until: new Date(clock.now().getTime() + retryMs) });
    log.warn('call of the provider failed', { machine: name, error: failure });
    return { observation: { host: 'Failed', error: failure }, retryMs };
  }
}

function withoutInstance(machine: Machine, provider: Provider): InfraObservation | undefined {
  const shape = shapeOf(machine);
  if (!provider.hasInstance(shape)) return { host: 'JoinsByItself' };
  const because = provider.configReason(shape);
  const isCreated = machine.status?.infra?.providerID !== undefined;
  return because === undefined || isCreated ? undefined : { host: 'ConfigRefused', because };
}

/** The other system has the instance: nothing is asked of a provider. */
function observeFollowed(machine: Machine): InfraObservation {
  const object = followedObject(machine);
  if (object) return { host: 'Followed', object };
  return { host: 'ConfigRefused', because: followedConfigReason(machine) ?? '' };
}

/** Returns what is known of the host of a machine whose provider this process did not open. */
function withoutProvider(machine: Machine): InfraObservation {
  const entry = findProviderEntry(machine.spec.infra.provider);
  if (!entry) return { host: 'NotSupported' };
  return entry.hasInstance(shapeOf(machine))
    ? { host: 'NotOpen', hint: entry.startHint }
    : { host: 'JoinsByItself' };
}

async function advance(
  input: InstanceInput,
  provider: Provider,
  act: InstanceScope,
): Promise<InfraObservation> {
  const { machine } = input;
  const { signal, clock } = act.context;
  const found = await readInstance(machine, provider, act);
  const uid = machine.metadata.uid ?? '';
  const shape = shapeOf(machine);
  const configReason = provider.configReason(shape);
  const decision = planInstance({
    ...input,
    provider: {
      configReason,
      needsBootstrap: provider.needsBootstrap(shape),
      startsStopped: provider.capabilities.startsStopped,
      bootstrapsOnce: provider.capabilities.bootstrapsOnce === true,
    },
    found,
    deliveredAt: act.delivered.get(uid)?.at,
    now: clock.now(),
  });
  const { because } = decision;
  const known = {
    host: 'Instance',
    because,
    ...optional('configReason', configReason),
    now: clock.now(),
  } as const;
  if (decision.type === 'Nothing') {
    return { ...known, ...optional('reason', decision.reason), instance: found };
  }
  if (decision.type === 'Adopt') return { ...known, instance: decision.instance };
  // An instance that exists costs money already: only another one is held.
  const held = found ? undefined : await creationHold(decision, { machine, provider, act });
  if (held) return { host: 'Held', explanation: held };
  const id = await carryOutInstance(decision, { machine, provider, act });
  report(decision, { id, machine, act });
  const instance = (await provider.get(id, signal)) ?? pending(id, machine, act);
  return { ...known, instance };
}

/** Returns why the instance is not created now. Undefined: it may be, or the decision creates none. */
async function creationHold(
  { type }: InstanceDecision,
  { machine, provider, act }: InstanceAct,
): Promise<Explanation | undefined> {
  return type === 'Create' ? await act.preflight?.(machine, provider, act.context) : undefined;
}

function report(
  { type, because }: InstanceDecision,
  { id, machine, act: { context } }: Omit<InstanceAct, 'provider'> & { readonly id: string },
): void {
  context.log.info('instance', { machine: machine.metadata.name, step: type, id, because });
  const reason = `${EVENT_PREFIX[MANAGER_MACHINE]}Instance${type === 'Create' ? 'Created' : 'Started'}`;
  context.event(machine, { type: 'Normal', reason, action: type, note: `${id}: ${because}` });
}

/** Reads the instance, unless its provider counts requests and its agent is alive. */
async function readInstance(
  machine: Machine,
  provider: Provider,
  act: InstanceScope,
): Promise<Instance | undefined> {
  const { clusterUid, reads, context } = act;
  const { uid = '', generation } = machine.metadata;
  const at = context.clock.now();
  const isCounted = provider.capabilities.countsRequests === true;
  const unchanged = isCounted ? unchangedInstance(machine, reads.get(uid), at) : undefined;
  if (unchanged) return unchanged;
  const instance = await findInstance(machine, provider, { clusterUid, signal: context.signal });
  if (instance && isCounted) reads.set(uid, { instance, generation, at });
  else reads.delete(uid);
  return instance;
}

/** Returns an instance that the provider does not list yet. */
function pending(id: string, machine: Machine, act: InstanceScope): Instance {
  const { clock } = act.context;
  return {
    id,
    machine: machine.metadata.name,
    tags: tagsOf(machine, act.clusterUid),
    state: 'Pending',
    addresses: [],
    createdAt: clock.now(),
  };
}
