/** A console with a login beside an API server in memory, which knows tokens and who may read which machines. */
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { FleetSource } from '../../../src/console/feeds/source.ts';
import { createLoginAccess, type LoginAccessOptions } from '../../../src/console/login/access.ts';
import { readPageFiles } from '../../../src/console/server/page-files.ts';
import { type ConsoleServer, startConsoleServer } from '../../../src/console/server/server.ts';
import { NO_STATE } from '../../../src/console/state/state.ts';
import type { BearerSource } from '../../../src/kube/auth/bearer.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { type MemoryLog, memoryLog } from '../../support/memory-log.ts';
import { clusterLine } from '../fixtures.ts';

export interface Person {
  name: string;
  /** Undefined: machines may not be read. */
  machines: readonly string[] | undefined;
}

export interface MemoryTokens {
  readonly people: Map<string, Person>;
  /** The number of times that the API server was asked who someone is. */
  reviews(): number;
  /** The number of clients that were opened. */
  opened(): number;
  /** The number of clients that are not closed. */
  clients(): number;
  /** Undefined: it answers. */
  failing: KubeError | undefined;
  /** The answer about who someone is waits for this. */
  held: Promise<void> | undefined;
  readonly connectUser: (bearer: BearerSource) => Promise<Client>;
}

function forbidden(name: string): KubeError {
  return new KubeError('Forbidden', `machines is forbidden: User "${name}" cannot list`);
}

/** Accepts the tokens of these people, and no others. */
export function memoryTokens(people: Readonly<Record<string, Person>>): MemoryTokens {
  const known = new Map(Object.entries(people));
  const counts = { reviews: 0, opened: 0, clients: 0 };
  const tokens: MemoryTokens = {
    people: known,
    reviews: () => counts.reviews,
    opened: () => counts.opened,
    clients: () => counts.clients,
    failing: undefined,
    held: undefined,
    connectUser(bearer) {
      counts.opened += 1;
      counts.clients += 1;
      const personOf = async (): Promise<Person> => {
        if (tokens.failing) throw tokens.failing;
        const person = known.get(await bearer());
        if (!person) throw new KubeError('Unauthorized', 'create SelfSubjectReview: Unauthorized');
        return person;
      };
      const client = {
        server: 'https://10.0.0.1:6443',
        async create(): Promise<KubeObject> {
          counts.reviews += 1;
          await tokens.held;
          const { name } = await personOf();
          const status = { userInfo: { username: name, groups: ['system:authenticated'] } };
          return {
            apiVersion: 'authentication.k8s.io/v1',
            kind: 'SelfSubjectReview',
            metadata: { name: '' },
            status,
          };
        },
        async list() {
          const { name, machines } = await personOf();
          if (!machines) throw forbidden(name);
          return {
            items: machines.map((machine) => ({ metadata: { name: machine } })),
            resourceVersion: '1',
          };
        },
        close() {
          counts.clients -= 1;
          return Promise.resolve();
        },
      };
      return Promise.resolve(client as unknown as Client);
    },
  };
  return tokens;
}

export interface LoginBed {
  readonly server: ConsoleServer;
  readonly log: MemoryLog;
  readonly tokens: MemoryTokens;
  /** Reads all open fleets again, as their watches do when they are opened again. */
  readonly reread: () => Promise<void>;
}

const PAGE = new Map([['/', { type: 'text/html; charset=utf-8', content: Buffer.from('<p>page</p>') }]]);

/** `pageFolder`: where the page was built, for a browser. */
export async function startLoginConsole(
  people: Readonly<Record<string, Person>>,
  options: Partial<LoginAccessOptions> = {},
  pageFolder?: string,
): Promise<LoginBed> {
  const tokens = memoryTokens(people);
  const log = memoryLog();
  const open = new Set<() => Promise<void>>();
  let ids = 0;
  const access = createLoginAccess({
    clock: createSystemClock(),
    log,
    connectUser: tokens.connectUser,
    createId: () => `an-id-that-no-one-else-has-${(ids += 1)}`,
    openFleet: (client, signal) => openFleet(client, signal, open),
    ...options,
  });
  const files = pageFolder === undefined ? PAGE : await readPageFiles(pathToFileURL(`${pageFolder}/`));
  const server = await startConsoleServer({ files, access, host: '127.0.0.1', port: 0 });
  onTestFinished(() => server.close());
  return {
    server,
    log,
    tokens,
    reread: async () => void (await Promise.all([...open].map((read) => read().catch(() => undefined)))),
  };
}

/** A fleet that has the machines which the client may list. */
async function openFleet(
  client: Client,
  signal: AbortSignal,
  open: Set<() => Promise<void>>,
): Promise<FleetSource> {
  const handlers: (() => void)[] = [];
  let names: readonly string[] = [];
  const read = async (): Promise<void> => {
    names = (await client.list(MACHINES)).items.map(({ metadata }) => metadata.name);
    for (const handler of handlers) handler();
  };
  await read();
  open.add(read);
  return {
    isHub: false,
    readEvents: () => Promise.resolve({ events: [] }),
    current: () => ({
      ...NO_STATE,
      clusters: { c: clusterLine('c') },
      machines: Object.fromEntries(names.map((name) => [`c/${name}`, { p: 'Ready' }])),
    }),
    machine: (_, name) => (names.includes(name) ? { components: [], conditions: [] } : undefined),
    subscribe: (handler) => void handlers.push(handler),
    run: () =>
      new Promise((resolve) => {
        const end = (): void => {
          open.delete(read);
          resolve();
        };
        signal.addEventListener('abort', end, { once: true });
        if (signal.aborted) end();
      }),
  };
}
