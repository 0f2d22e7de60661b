/**
 * Creates a client of the simulated API server: requests fail, answers are lost, others write first, and the process is killed at a write.
 */
import type { CallWindow } from '../../defender/facts/call-window.ts';
import type { ApplyOptions, Client } from '../../kube/client/client.ts';
import { isKubeError, KubeError } from '../../kube/client/errors.ts';
import type { JsonPatchOperation } from '../../kube/controller/writes/declared-fields.ts';
import type { KubeObject, ObjectName, Resource } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { SimulatedApi } from '../api-server/simulated-api.ts';
import type { ObjectWriteOptions } from '../api-server/write-rules.ts';
import type { Random } from '../random.ts';

export interface FaultyClient
  extends Pick<Client, 'apply' | 'create' | 'patch' | 'delete' | 'get' | 'replace' | 'pages'> {
  readonly isDead: () => boolean;
  /**
   * Brackets a call of something else than the API server: called before and after it. Throws when the process was killed, or is just now.
   */
  readonly live: () => void;
  /** Throws an error that the API server did not answer: it is a fault of the simulator, or of a planner. */
  readonly noteError: (error: unknown) => void;
}

export interface FaultyClientOptions {
  readonly api: SimulatedApi;
  readonly random: Random;
  readonly nowMs: () => number;
  readonly isCalm: () => boolean;
  /** Writes before the process does; `deleted` is what the process deletes. */
  readonly interfere: (deleted?: ObjectName) => void;
  readonly calls: CallWindow;
  readonly rates?: FaultRates;
}

/** The chances of a fault in each write. */
export interface FaultRates {
  /** The chance that the request is lost, and once more that its answer is. */
  readonly lost: number;
  /** The chance that somebody writes first. */
  readonly interference: number;
  /** The chance that the process is killed before the write, and once more after it. */
  readonly killed: number;
}

/** The chance of a kill in a call of something else. */
const KILLED = 0.001;
/** Eight kills in an hour of rollouts, in which controllers write about 800 times. */
const RATES: FaultRates = { lost: 0.02, interference: 0.004, killed: 0.005 };

export function createFaultyClient(options: FaultyClientOptions): FaultyClient {
  const { api, random, nowMs, isCalm, interfere, calls, rates = RATES } = options;
  let isDead = false;
  return {
    isDead: () => isDead,
    live: () => {
      if (isDead || (!isCalm() && random.chance(KILLED))) throw kill();
    },
    noteError: (error) => {
      if (!(error instanceof KubeError) && !isLedgerError(error) && !isDead) throw error;
    },
    apply: (_, object, how) => write(() => api.apply(object, writeOptions(how))),
    create: (_, object, how) => write(() => api.create(object, writeOptions(how))),
    replace: (_, object, how) => write(() => api.replace(object, writeOptions(how))),
    patch: (resource, name, { body }, how) =>
      write(() =>
        api.patch(resource, name, body as unknown as readonly JsonPatchOperation[], writeOptions(how)),
      ),
    delete: (resource, name, { uid, resourceVersion }) =>
      write(
        () => api.delete(resource, name, { uid, ...optional('resourceVersion', resourceVersion) }),
        name,
      ) as never,
    get: async <T>(
      resource: Parameters<Client['get']>[0],
      name: Parameters<Client['get']>[1],
    ): Promise<T> => {
      await Promise.resolve();
      if (isDead) throw dead();
      const found = api.get(resource, name);
      if (!found) throw new KubeError('NotFound', 'it was not found');
      return found as T;
    },
    // Without selectors: who lists, looks at the labels.
    pages: async function* pages(resource: Resource) {
      await Promise.resolve();
      if (isDead) throw dead();
      yield { items: api.list(resource) as never, resourceVersion: '1' };
    },
  };

  async function write<T>(act: () => KubeObject | undefined, deleted?: ObjectName): Promise<T> {
    await Promise.resolve();
    if (isDead) throw dead();
    calls.add({ code: '200', serverTime: new Date(nowMs()) } as never);
    if (isCalm()) return act() as T;
    if (random.chance(rates.interference)) interfere(deleted);
    if (random.chance(rates.lost)) throw new KubeError('Unreachable', 'the request was lost');
    if (random.chance(rates.killed)) throw kill();
    const answer = act();
    if (random.chance(rates.lost)) throw new KubeError('Timeout', 'the answer was lost');
    if (random.chance(rates.killed)) throw kill();
    return answer as T;
  }

  function kill(): KubeError {
    isDead = true;
    return dead();
  }
}

function writeOptions({
  fieldManager = '',
  subresource,
  force,
}: Partial<ApplyOptions> = {}): ObjectWriteOptions {
  return { manager: fieldManager, ...optional('subresource', subresource), ...optional('force', force) };
}

function dead(): KubeError {
  return new KubeError('Aborted', 'the process was killed');
}

function isLedgerError(error: unknown): boolean {
  return isKubeError(error) || (error instanceof Error && error.name === 'LedgerNotWritten');
}
