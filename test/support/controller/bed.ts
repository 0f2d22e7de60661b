/**
 * A test bed for controllers: the real runtime over an in-memory API server, with a clock that the test moves, a journal
 * of all writes, and processes that crash at their n-th write.
 */
import { onTestFinished } from 'vitest';
import { createTransform, type Transform } from '../../../src/kube/cache/trim.ts';
import { createView, type View } from '../../../src/kube/cache/view.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import type { Controller } from '../../../src/kube/controller/controller.ts';
import { type RunOptions, runControllers } from '../../../src/kube/controller/run.ts';
import { EVENTS } from '../../../src/kube/events/object.ts';
import { createLeaseElection } from '../../../src/kube/leader/election.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import type { ServedKind } from '../../../src/sim/api-server/kinds.ts';
import { type MemoryLog, memoryLog } from '../memory-log.ts';
import { withIndexers } from '../view-indexers.ts';
import { type VirtualClock, virtualClock } from '../virtual-clock.ts';
import { createMemoryApi, type MemoryApi, type MemoryConnection } from './memory-api.ts';

export interface ControllerBedOptions {
  /** With a client of their process, for those that read past their views. */
  readonly controllers: readonly Controller[] | ((client: Client) => readonly Controller[]);
  /** Opens the controllers of each process with the views that they share; without it they are `controllers`, with a view for each kind that they read. */
  readonly open?: (connection: MemoryConnection) => Promise<Pick<RunOptions, 'controllers' | 'views'>>;
  /** The kinds that the API server serves, beside Leases and Events. */
  readonly kinds: readonly ServedKind[];
  /** What is there before the controllers start. */
  readonly objects?: readonly KubeObject[];
  /** Run under leader election. */
  readonly lease?: boolean;
  readonly options?: Partial<RunOptions>;
}

export interface ControllerBed {
  readonly clock: VirtualClock;
  readonly api: MemoryApi;
  readonly log: MemoryLog;
  /** A person applies these fields. */
  readonly apply: (object: KubeObject, subresource?: string) => void;
  readonly get: <T extends KubeObject>(resource: Resource<T>, name: string) => T | undefined;
  readonly delete: (resource: Resource, name: string) => void;
  /** The controllers, in a process of their own. It is stopped when the test ends. */
  readonly start: (crash?: BedCrash) => Promise<BedProcess>;
  /** Time passes in small steps, so that what waits for a turn of the event loop gets it. */
  readonly advance: (ms: number) => Promise<void>;
  /** What was written since this was last asked: `apply Widget a`, with ` -> 409` where it was refused. */
  readonly writes: () => string[];
}

/** At the n-th write of the process: it does not arrive, or its answer does not. */
export interface BedCrash {
  readonly n: number;
  readonly when: 'before' | 'after';
}

export interface BedProcess {
  readonly crashed: boolean;
  readonly views: Readonly<Record<string, View>>;
  /** Resolves when it stopped; rejects with LeaseLost. */
  readonly ended: Promise<void>;
  /** As by SIGTERM. */
  readonly stop: () => Promise<void>;
  /** As by SIGKILL: nothing that it sends arrives any more. */
  readonly kill: () => Promise<void>;
}

const PERSON = { manager: 'person', force: true };
/** Enough for the longest shutdown. */
const SHUTDOWN_MS = 60_000;
/** Enough for some retries with back-off. */
const RECOVERY_MS = 10_000;
const STEP_MS = 50;
const LEASE = { namespace: 'test', name: 'controllers' };

export function createControllerBed(given: ControllerBedOptions): ControllerBed {
  const clock = virtualClock();
  const log = memoryLog();
  const kinds = [...given.kinds, { resource: LEASES }, { resource: EVENTS }];
  const api = createMemoryApi({ clock, kinds });
  let processes = 0;
  let reported = 0;
  const bed: ControllerBed = { clock, api, log, apply, get, delete: remove, start, advance, writes };
  for (const object of given.objects ?? []) apply(object);
  return bed;

  function kindOf(kind: string): ServedKind {
    const found = kinds.find(({ resource }) => resource.kind === kind);
    if (!found) throw new Error(`the bed does not serve ${kind}: add it to its kinds`);
    return found;
  }

  function apply(object: KubeObject, subresource?: string): void {
    const options = subresource === undefined ? PERSON : { ...PERSON, subresource };
    api.objects.apply(kindOf(object.kind), object, options);
  }

  function get<T extends KubeObject>(resource: Resource<T>, name: string): T | undefined {
    return api.objects.find(kindOf(resource.kind), { name }) as T | undefined;
  }

  function remove(resource: Resource, name: string): void {
    api.objects.delete(kindOf(resource.kind), { name }, {});
  }

  function writes(): string[] {
    const lines = api.journal.slice(reported).filter(({ what }) => !/ (Lease|Event) /.test(what));
    reported = api.journal.length;
    return lines.map(({ what, code }) => (code < 300 ? what : `${what} -> ${code}`));
  }

  async function advance(ms: number): Promise<void> {
    await clock.advance(0);
    for (let left = ms; left > 0; left -= STEP_MS) await clock.advance(Math.min(STEP_MS, left));
  }

  async function openProcess(
    connection: MemoryConnection,
    shared: SharedPorts,
  ): Promise<Pick<RunOptions, 'controllers' | 'views'>> {
    if (given.open) return await given.open(connection);
    const controllers =
      typeof given.controllers === 'function'
        ? given.controllers(await connection.connect())
        : given.controllers;
    return { controllers, views: await viewsOf(controllers, connection, shared) };
  }

  async function start(crash?: BedCrash): Promise<BedProcess> {
    processes += 1;
    const identity = `process-${processes}`;
    const connection = api.connection();
    if (crash) connection.crashAt(crash.n, crash.when);
    const stop = new AbortController();
    const shared = { clock, random: () => 0, log };
    const { controllers, views } = await openProcess(connection, shared);
    const client = await connection.connect();
    const lease = createLeaseElection({ client, name: LEASE, identity, ...shared });
    const running = runControllers(
      {
        ...shared,
        controllers,
        views,
        connect: (principal) => connection.connect(principal),
        reporter: { domain: 'test', instance: identity },
        ...(given.lease ? { lease } : {}),
        ...given.options,
      },
      stop.signal,
    );
    running.catch(() => {}); // a test that awaits `ended` gets the error
    onTestFinished(end);
    await clock.advance(0);
    return {
      views,
      ended: running,
      get crashed() {
        return connection.crashed;
      },
      stop: end,
      kill: async () => {
        connection.kill();
        await end();
      },
    };

    async function end(): Promise<void> {
      stop.abort();
      const over = { yet: false };
      const ended = running
        .catch(() => undefined)
        .finally(() => {
          over.yet = true;
        });
      for (let ms = 0; !over.yet && ms < SHUTDOWN_MS; ms += 1000) await clock.advance(1000);
      await ended;
    }
  }
}

type SharedPorts = Pick<RunOptions, 'clock' | 'random' | 'log'>;

async function viewsOf(
  controllers: readonly Controller[],
  connection: MemoryConnection,
  shared: SharedPorts,
): Promise<Record<string, View>> {
  const client = await connection.connect();
  const managers = controllers.map(({ fieldManager }) => fieldManager);
  const resources = new Map(
    controllers.flatMap(({ reads }) => reads.map(({ resource }) => [resource.kind, resource] as const)),
  );
  return Object.fromEntries(
    [...resources].map(([kind, resource]) => [
      kind,
      createView({
        ...shared,
        client,
        resource,
        transform: createFreezer(managers),
        ...withIndexers(resource),
      }),
    ]),
  );
}

/** Objects of a view are shared: a controller that changes one fails here. */
function createFreezer(managers: readonly string[]): Transform<KubeObject> {
  const transform = createTransform([], managers);
  return (object) => (Object.isFrozen(object) ? object : freeze(transform(object)));
}

function freeze<V>(value: V): V {
  if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) freeze(part);
  return Object.freeze(value);
}

/**
 * Runs a scenario again and again, with a crash at its first write, at its second, and so on, before and after it
 * arrived; each time a second process takes over. `check` sees what it made of it.
 */
export async function sweepCrashes(
  given: ControllerBedOptions,
  check: (bed: ControllerBed, crash: string) => Promise<void> | void,
): Promise<number> {
  for (let n = 1; ; n += 1) {
    for (const when of ['before', 'after'] as const) {
      // oxlint-disable no-await-in-loop -- one scenario after the other
      const bed = createControllerBed(given);
      const first = await bed.start({ n, when });
      await bed.advance(RECOVERY_MS);
      if (!first.crashed) return n - 1;
      await first.kill();
      await bed.start();
      await bed.advance(RECOVERY_MS);
      await check(bed, `${when} write ${n}`);
      // oxlint-enable no-await-in-loop
    }
  }
}
