/**
 * Provider aws: the machines are instances of EC2 in one region. Nothing is in memory: what exists is found by its tags, and the UID of a
 * Machine is the ClientToken of its instance.
 */
import type { Clock } from '../../os/clock.ts';
import { pollUntil } from '../../os/poll.ts';
import type { CloudProviderOptions } from '../cloud/options.ts';
import { changingError, ownEvents, requireFound } from '../cloud/own-instances.ts';
import { deletedError, isMachineUid, throwIfRefused } from '../cloud/request.ts';
import type { AgentDownload } from '../cloud/user-data.ts';
import {
  type Instance,
  type InstanceRequest,
  type InstanceShape,
  isProviderError,
  type PowerAction,
  type Provider,
  ProviderError,
} from '../contract.ts';
import { onlyInstance } from '../only-instance.ts';
import { checkAws } from './check.ts';
import { type AwsClient, type AwsClientOptions, createAwsClient } from './client.ts';
import { AWS, readAwsConfig } from './config.ts';
import { EVENT_CODES, readEvents } from './events.ts';
import { awsIdOf, isEnding, parseAwsId } from './instance.ts';
import { type AwsLookup, createAwsLookup, readFound } from './lookup.ts';
import { runRequest } from './run-request.ts';

export interface AwsProviderOptions extends CloudProviderOptions, Pick<AwsClientOptions, 'sdk'> {
  /** How often an instance is looked up that changes its state. */
  readonly pollMs?: number;
}

interface Parts {
  readonly client: AwsClient;
  readonly lookup: AwsLookup;
  readonly clock: Clock;
  readonly agent: AgentDownload;
  readonly pollMs: number;
}

const POLL_MS = 5000;
/** An instance ends in half a minute or later: a deletion that takes longer is repeated, and others are not kept waiting. */
const DELETE_MS = 20_000;
/** A stop that the kernel does not answer is forced by EC2 after some minutes. */
const STOP_MS = 600_000;

export async function openAwsProvider(options: AwsProviderOptions): Promise<Provider> {
  const { clock, agent, pollMs = POLL_MS } = options;
  const client = await createAwsClient(options);
  const lookup = createAwsLookup(client);
  const parts: Parts = { client, lookup, clock, agent, pollMs };
  return {
    ...AWS,
    async create(request, signal) {
      signal.throwIfAborted();
      throwIfRefused(AWS, request);
      throwIfOtherRegion(request, client.region);
      return (await findCreated(request, parts, signal)) ?? (await createInstance(request, parts, signal));
    },
    get: (id, signal) => lookup.byId(id, signal),
    async find(filter, signal) {
      signal.throwIfAborted();
      const { machineUid } = filter;
      if (machineUid === undefined) return await lookup.byFilter(filter, signal);
      if (!isMachineUid(machineUid)) return [];
      return readFound(await lookup.byMachine(machineUid, signal), filter);
    },
    delete: (id, signal) => deleteInstance(id, parts, signal),
    power: (id, action, signal) => switchPower(id, action, parts, signal),
    events: async (signal) => await listEvents(parts, signal),
    async check(shape, signal) {
      if (shape) throwIfOtherRegion(shape, client.region);
      return await checkAws(shape, parts, signal);
    },
  };
}

/** Returns the id of the instance that exists for the Machine. */
async function findCreated(
  { tags }: InstanceRequest,
  { lookup }: Parts,
  signal: AbortSignal,
): Promise<string | undefined> {
  const all = await lookup.byMachine(tags.machineUid, signal);
  const living = all.filter((each) => !isEnding(each));
  const found = onlyInstance(readFound(living, tags));
  if (found) return found.id;
  const [ended] = all;
  if (ended) throw deletedError(awsIdOf(ended));
  return undefined;
}

async function createInstance(request: InstanceRequest, parts: Parts, signal: AbortSignal): Promise<string> {
  try {
    const instance = await parts.client.run(runRequest(request, parts.agent), signal);
    if (isEnding(instance)) throw deletedError(awsIdOf(instance));
    return awsIdOf(instance);
  } catch (error) {
    // Another bootstrap file, or another spec: the instance was created by the request before.
    if (!isProviderError(error) || error.reason !== 'IdempotentParameterMismatch') throw error;
    const created = await findCreated(request, parts, signal);
    if (created === undefined) throw error;
    return created;
  }
}

async function deleteInstance(id: string, parts: Parts, signal: AbortSignal): Promise<void> {
  const { client, lookup, clock, pollMs } = parts;
  const { instanceId } = parseAwsId(id);
  signal.throwIfAborted();
  // Throws for an instance that is not ours.
  await lookup.byId(id, signal);
  try {
    // Also what is not listed: a new instance is listed later.
    await client.terminate(instanceId, signal);
  } catch (error) {
    if (isProviderError(error, 'NotFound')) return;
    throw error;
  }
  const isMissing = async (): Promise<boolean> => (await lookup.byId(id, signal)) === undefined;
  const deadlineMs = clock.monotonicMs() + DELETE_MS;
  if (await pollUntil(isMissing, { clock, everyMs: pollMs, deadlineMs, signal })) return;
  throw changingError(id, 'Terminating', 'is being terminated');
}

async function switchPower(
  id: string,
  action: PowerAction,
  parts: Parts,
  signal: AbortSignal,
): Promise<void> {
  const { instanceId } = parseAwsId(id);
  signal.throwIfAborted();
  const { state } = await requireInstance(id, parts, signal);
  if (action !== 'on' && state !== 'Stopped') await parts.client.stop(instanceId, signal);
  if (action === 'off') return;
  if (action === 'cycle') await waitUntilStopped(id, parts, signal);
  if (action === 'cycle' || state === 'Stopped') await parts.client.start(instanceId, signal);
  else if (state === 'Unknown') throw stateError(id);
}

async function waitUntilStopped(id: string, parts: Parts, signal: AbortSignal): Promise<void> {
  const { clock, pollMs } = parts;
  const isStopped = async (): Promise<boolean> =>
    (await requireInstance(id, parts, signal)).state === 'Stopped';
  const deadlineMs = clock.monotonicMs() + STOP_MS;
  if (!(await pollUntil(isStopped, { clock, everyMs: pollMs, deadlineMs, signal }))) throw stateError(id);
}

async function requireInstance(id: string, { lookup }: Parts, signal: AbortSignal): Promise<Instance> {
  return requireFound(await lookup.byId(id, signal), id);
}

/** Lists the events of our instances. While nothing is announced, that is one request. */
async function listEvents({ client, lookup }: Parts, signal: AbortSignal): ReturnType<Provider['events']> {
  const events = (await client.describeEvents(EVENT_CODES, signal)).flatMap(readEvents);
  return await ownEvents(events, (id) => lookup.byId(id, signal));
}

function throwIfOtherRegion(shape: InstanceShape, region: string): void {
  const { region: wanted = region } = readAwsConfig(shape);
  if (wanted === region) return;
  const message = `spec.infra.config.region: this process works in region ${region}, not in ${wanted}`;
  throw new ProviderError('Terminal', message, { reason: 'OtherRegion' });
}

function stateError(id: string): ProviderError {
  return changingError(id, 'InstanceChanging', 'changes its state');
}
