/** Creates, starts and deletes the instances of machines. Every call may be repeated: the UID of the Machine is its token. */
import type { Machine, MachineImport, MachineInfraStatus } from '../../../api/generated/types.ts';
import { EVENT_PREFIX, LABEL_MACHINESET, MANAGER_MACHINE } from '../../../api/names.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Instance, Provider, ProviderError } from '../../../providers/contract.ts';
import { findProviderEntry } from '../../../providers/registry.ts';
import type { Finding } from '../finding.ts';
import {
  type Bootstrap,
  findInstance,
  type InstanceParts,
  providerFailure,
  retryAfterMs,
  tagsOf,
} from './calls.ts';
import { type InfraObservation, infraFindings, infraStatus } from './findings.ts';
import { type LastRead, unchangedInstance } from './last-read.ts';
import { type InstanceDecision, planInstance, shapeOf } from './plan.ts';
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
/** How long a token must still be valid to be given to a host that starts. */
const MIN_TOKEN_MS = 300_000;

export function createInstances(parts: InstanceParts): Instances {
  const delivered = new Map<string, Delivery>();
  const failures = new Map<string, Failure>();
  const reads = new Map<string, LastRead>();
  return {
    ensure: (input, context) => ensure(input, { ...parts, delivered, failures, reads, context }),
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

/** The token that this process gave to a host. Other processes do not know it: without it a host gets another token. */
interface Delivery {
  readonly bootstrap: Bootstrap;
  readonly at: Date;
}

/** A failed call. Until its time is over the provider is not called again, whatever triggers a reconcile. */
interface Failure {
  readonly error: ProviderError;
  readonly generation: number | undefined;
  readonly until: Date;
}

interface Act extends InstanceParts {
  readonly delivered: Map<string, Delivery>;
  readonly failures: Map<string, Failure>;
  readonly reads: Map<string, LastRead>;
  readonly context: ReconcileContext;
}

async function ensure(input: InstanceInput, act: Act): Promise<InfraReport> {
  const { machine, hasJoined } = input;
  const { clock } = act.context;
  const { observation, retryMs } = await observeInfra(input, act);
  const waitMs = retryMs ?? (observation.host === 'Instance' && !hasJoined ? STARTING_MS : undefined);
  return {
    ...optional('import', observation.host === 'Instance' ? observation.instance?.import : undefined),
    findings: infraFindings(machine, observation),
    status: infraStatus(machine, observation),
    ...optional('requeueAt', waitMs === undefined ? undefined : new Date(clock.now().getTime() + waitMs)),
  };
}

interface Observed {
  readonly observation: InfraObservation;
  readonly retryMs?: number;
}

async function observeInfra(input: InstanceInput, act: Act): Promise<Observed> {
  const { machine } = input;
  if (machine.spec.import) return { observation: { host: 'Imported' } };
  const provider = act.providers[machine.spec.infra.provider];
  if (!provider) return { observation: withoutProvider(machine) };
  const refused = withoutInstance(machine, provider);
  if (refused) return { observation: refused };
  return lastFailure(machine, act) ?? (await advanceOrFail(input, provider, act));
}

function lastFailure({ metadata }: Machine, { failures, context }: Act): Observed | undefined {
  const { uid = '', generation } = metadata;
  const failure = failures.get(uid);
  const leftMs = failure ? failure.until.getTime() - context.clock.now().getTime() : 0;
  if (!failure || failure.generation !== generation || leftMs <= 0) return undefined;
  return { observation: { host: 'Failed', error: failure.error }, retryMs: leftMs };
}

async function advanceOrFail(input: InstanceInput, provider: Provider, act: Act): Promise<Observed> {
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

/** Returns what is known of the host of a machine whose provider this process did not open. */
function withoutProvider(machine: Machine): InfraObservation {
  const entry = findProviderEntry(machine.spec.infra.provider);
  if (!entry) return { host: 'NotSupported' };
  return entry.hasInstance(shapeOf(machine))
    ? { host: 'NotOpen', hint: entry.startHint }
    : { host: 'JoinsByItself' };
}

async function advance(input: InstanceInput, provider: Provider, act: Act): Promise<InfraObservation> {
  const { machine } = input;
  const { signal, clock, log } = act.context;
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
  const id = await carryOut(decision, { machine, provider, act });
  const { name } = machine.metadata;
  log.info('instance', { machine: name, step: decision.type, id, because });
  const reason = `${EVENT_PREFIX[MANAGER_MACHINE]}Instance${decision.type === 'Create' ? 'Created' : 'Started'}`;
  act.context.event(machine, { type: 'Normal', reason, action: decision.type, note: `${id}: ${because}` });
  const instance = (await provider.get(id, signal)) ?? pending(id, machine, act);
  return { ...known, instance };
}

/** Reads the instance, unless its provider counts requests and its agent is alive. */
async function readInstance(machine: Machine, provider: Provider, act: Act): Promise<Instance | undefined> {
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

async function carryOut(
  decision: Extract<InstanceDecision, { type: 'Create' | 'PowerOn' }>,
  { machine, provider, act }: { readonly machine: Machine; readonly provider: Provider; readonly act: Act },
): Promise<string> {
  const { signal } = act.context;
  if (decision.type === 'PowerOn') {
    await provider.power(decision.id, 'on', signal);
    return decision.id;
  }
  const bootstrap = decision.withBootstrap ? await bootstrapFor(machine, act) : undefined;
  signal.throwIfAborted();
  const { name } = machine.metadata;
  const set = machine.metadata.labels?.[LABEL_MACHINESET];
  const tags = { ...tagsOf(machine, act.clusterUid), ...optional('set', set) };
  const request = { ...shapeOf(machine), machine: name, tags, ...optional('bootstrap', bootstrap) };
  return await provider.create(request, signal);
}

/** Returns the bootstrap file of a host. A create that is repeated uses the token of the last try. */
async function bootstrapFor(
  { metadata }: Machine,
  { delivered, createBootstrap, context }: Act,
): Promise<string> {
  const { name, uid = '' } = metadata;
  const now = context.clock.now();
  const last = delivered.get(uid);
  const isLeft = last && last.bootstrap.expiresAt.getTime() - now.getTime() > MIN_TOKEN_MS;
  const bootstrap = isLeft ? last.bootstrap : await createBootstrap(name);
  delivered.set(uid, { bootstrap, at: now });
  return bootstrap.text;
}

/** Returns an instance that the provider does not list yet. */
function pending(id: string, machine: Machine, act: Act): Instance {
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
