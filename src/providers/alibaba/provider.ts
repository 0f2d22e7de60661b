/**
 * Provider alibaba: the machines are instances of ECS in one region. Nothing is in memory: what exists is found by its tags, and the UID of a
 * Machine is the ClientToken of its instance.
 */
import { listAt, valueAt } from '../../kube/objects/json.ts';
import { pollUntil } from '../../os/poll.ts';
import { createCredentialSource } from '../cloud/credential-source.ts';
import { readEndpoint } from '../cloud/endpoint.ts';
import { type CloudProviderOptions, REQUEST_MS } from '../cloud/options.ts';
import { changingError, ownEvents } from '../cloud/own-instances.ts';
import { deletedError, isMachineUid, throwIfRefused } from '../cloud/request.ts';
import type { AgentDownload } from '../cloud/user-data.ts';
import {
  type InstanceEvent,
  type InstanceRequest,
  isProviderError,
  type Provider,
  ProviderError,
} from '../contract.ts';
import { onlyInstance } from '../only-instance.ts';
import { answerEvent } from './answer.ts';
import { createAlibabaApi } from './api/client.ts';
import { checkAlibaba } from './check.ts';
import { ALIBABA } from './config.ts';
import { credentialLoader } from './credentials/load.ts';
import { isApiCode } from './errors.ts';
import { DECIDED_STATES, readEvent } from './events.ts';
import { formatAlibabaId, parseAlibabaId } from './instance.ts';
import { createAlibabaLookup } from './lookup.ts';
import { type EcsParts, switchPower } from './power.ts';
import { runQuery } from './run-request.ts';

interface Parts extends EcsParts {
  readonly agent: AgentDownload;
}

const VERSION = '2014-05-26';
const REGION = /^[a-z]{2}(-[a-z0-9]+){1,4}$/;
/** ECS lists an instance within seconds. After a minute, not found means that it was deleted. */
const LISTED_MS = 60_000;
/** A deletion that takes longer is repeated, and others are not kept waiting. */
const DELETE_MS = 20_000;
const POLL_MS = 2000;
const PAGE = 100;
const MAX_PAGES = 100;

export function openAlibabaProvider(options: CloudProviderOptions): Provider {
  const { clock, env, agent, timeoutMs = REQUEST_MS } = options;
  const region = regionOf(env);
  const credentials = createCredentialSource(credentialLoader(options, region), clock);
  const endpoint = readEndpoint(env, 'ALIBABA_CLOUD_ECS_ENDPOINT', `https://ecs.${region}.aliyuncs.com`);
  const api = createAlibabaApi({ endpoint, version: VERSION, credentials, clock, timeoutMs });
  const lookup = createAlibabaLookup(api, region, clock);
  const parts: Parts = { api, lookup, region, clock, agent };
  return {
    ...ALIBABA,
    async create(request, signal) {
      signal.throwIfAborted();
      throwIfRefused(ALIBABA, request);
      return (await findCreated(request, parts, signal)) ?? (await createInstance(request, parts, signal));
    },
    get: async (id, signal) => (await lookup.byId(id, signal))?.instance,
    async find(filter, signal) {
      signal.throwIfAborted();
      // An empty value would find all of them.
      const { machineUid } = filter;
      if (machineUid !== undefined && !isMachineUid(machineUid)) return [];
      return await lookup.byFilter(filter, signal);
    },
    delete: (id, signal) => deleteInstance(id, parts, signal),
    async power(id, action, signal) {
      const instance = { id, ecsId: parseAlibabaId(id, region) };
      signal.throwIfAborted();
      await switchPower(instance, action, parts, signal);
    },
    events: (signal) => listEvents(parts, signal),
    check: (shape, signal) => checkAlibaba(shape, parts, signal),
    answer: (answer, signal) => answerEvent(answer, parts, signal),
  };
}

function regionOf(env: CloudProviderOptions['env']): string {
  const region = env['ALIBABA_CLOUD_REGION_ID'] ?? '';
  if (REGION.test(region)) return region;
  const message = `expected the region of the instances in ALIBABA_CLOUD_REGION_ID, got ${JSON.stringify(region.slice(0, 80))}`;
  throw new ProviderError('Terminal', message, { reason: 'NoRegion' });
}

/** Returns the id of the instance that exists for the Machine. */
async function findCreated(
  { tags }: InstanceRequest,
  { lookup }: Parts,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { clusterUid, machineUid } = tags;
  return onlyInstance(await lookup.byFilter({ clusterUid, machineUid }, signal))?.id;
}

/** Returns when the instance is listed, so that the next search finds it. */
async function createInstance(request: InstanceRequest, parts: Parts, signal: AbortSignal): Promise<string> {
  const { clock } = parts;
  const answered = await runInstance(request, parts, signal);
  let id: string | undefined;
  const isListed = async (): Promise<boolean> => {
    id = await findCreated(request, parts, signal);
    return id !== undefined;
  };
  const deadlineMs = clock.monotonicMs() + LISTED_MS;
  await pollUntil(isListed, { clock, everyMs: POLL_MS, deadlineMs, signal });
  if (id !== undefined) return id;
  // The token was used before, and ECS answers as it did then.
  throw deletedError(answered ?? `of the token ${request.tags.machineUid}`);
}

/** Undefined: the token was used with another bootstrap file, or another spec. */
async function runInstance(
  request: InstanceRequest,
  { api, region, agent }: Parts,
  signal: AbortSignal,
): Promise<string | undefined> {
  const query = runQuery(request, region, agent);
  try {
    const answer = await api.call('RunInstances', query, signal, 'Ambiguous');
    const [created] = listAt(answer, 'InstanceIdSets', 'InstanceIdSet');
    return typeof created === 'string' ? formatAlibabaId(region, created) : undefined;
  } catch (error) {
    if (isApiCode(error, 'IdempotentParameterMismatch')) return undefined;
    throw error;
  }
}

/** Resolves when ECS does not know the instance any more. That is never concluded from a list, which is empty without rights. */
async function deleteInstance(id: string, parts: Parts, signal: AbortSignal): Promise<void> {
  const { api, lookup, region, clock } = parts;
  const InstanceId = parseAlibabaId(id, region);
  signal.throwIfAborted();
  // Throws for an instance that is not ours.
  await lookup.byId(id, signal);
  const isDeleted = async (): Promise<boolean> => {
    try {
      await api.call('DeleteInstance', { InstanceId, Force: 'true' }, signal);
      return false;
    } catch (error) {
      if (isProviderError(error, 'NotFound')) return true;
      // It starts, or it is being deleted.
      if (isApiCode(error, 'IncorrectInstanceStatus')) return false;
      throw error;
    }
  };
  const deadlineMs = clock.monotonicMs() + DELETE_MS;
  if (await pollUntil(isDeleted, { clock, everyMs: POLL_MS, deadlineMs, signal })) return;
  throw changingError(id, 'Deleting', 'is being deleted');
}

/** Lists the decided events of our instances. While nothing is announced, that is one request. */
async function listEvents(parts: Parts, signal: AbortSignal): Promise<readonly InstanceEvent[]> {
  signal.throwIfAborted();
  const events = await listAllEvents(parts, signal);
  return await ownEvents(events, (id) => parts.lookup.byId(id, signal));
}

async function listAllEvents({ api, region }: Parts, signal: AbortSignal): Promise<readonly InstanceEvent[]> {
  const states = Object.fromEntries(
    DECIDED_STATES.map((state, index) => [`InstanceEventCycleStatus.${index + 1}`, state]),
  );
  const all: InstanceEvent[] = [];
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const query = { RegionId: region, ...states, PageSize: String(PAGE), PageNumber: String(page) };
    const answer = await api.call('DescribeInstanceHistoryEvents', query, signal);
    const listed = valueAt(answer, 'InstanceSystemEventSet', 'InstanceSystemEventType');
    if (!Array.isArray(listed)) break;
    all.push(...listed.map((each) => readEvent(each, region)));
    if (listed.length < PAGE) return all;
  }
  throw new ProviderError('Retryable', 'the list of system events cannot be read', { reason: 'BadAnswer' });
}
