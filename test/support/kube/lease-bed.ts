/** Candidates for one Lease over a simulated API server and a virtual clock. */
import { onTestFinished } from 'vitest';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { createLeaseElection, type LeaseElection } from '../../../src/kube/leader/election.ts';
import type { HeldTerm } from '../../../src/kube/leader/renewal.ts';
import type { LeaseOptions } from '../../../src/kube/leader/settings.ts';
import { memoryLog } from '../memory-log.ts';
import { settle, type VirtualClock, virtualClock } from '../virtual-clock.ts';
import { createObjectServer, type ObjectServer } from './object-server.ts';

export const LEASE_NAME = { namespace: 'system', name: 'controllers' };

export interface LeaseBed {
  readonly clock: VirtualClock;
  readonly server: ObjectServer;
  readonly candidate: (identity: string, options?: Partial<LeaseOptions>) => LeaseElection;
}

export function createLeaseBed(): LeaseBed {
  const clock = virtualClock();
  const server = createObjectServer();
  return {
    clock,
    server,
    candidate: (identity, options = {}) =>
      createLeaseElection({
        client: server,
        name: LEASE_NAME,
        identity,
        clock,
        random: () => 0,
        log: memoryLog(),
        ...options,
      }),
  };
}

export const never = new AbortController().signal;

export async function acquire(election: LeaseElection, clock: VirtualClock, ms = 0): Promise<HeldTerm> {
  const campaign = election.campaign(never);
  await settle();
  await clock.advance(ms);
  const term = await campaign;
  onTestFinished(() => term.release());
  return term;
}

/** A client whose requests fail while `broken` is set. */
export function createBreakableClient(server: ObjectServer): {
  client: LeaseOptions['client'];
  broken: KubeError | undefined;
} {
  const link: { client: LeaseOptions['client']; broken: KubeError | undefined } = {
    broken: undefined,
    client: {
      get: (...args) => (link.broken ? Promise.reject(link.broken) : server.get(...args)),
      create: (...args) => (link.broken ? Promise.reject(link.broken) : server.create(...args)),
      replace: (...args) => (link.broken ? Promise.reject(link.broken) : server.replace(...args)),
      patch: (...args) => (link.broken ? Promise.reject(link.broken) : server.patch(...args)),
    },
  };
  return link;
}

/** A client whose answers to writes are delayed. */
export function createSlowClient(
  server: ObjectServer,
  wait: () => Promise<void> | undefined,
): LeaseOptions['client'] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the port lets callers name the type of the result
  const writes = server as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const slow =
    (verb: 'create' | 'replace' | 'patch') =>
    async (...args: unknown[]): Promise<unknown> => {
      const answer = await writes[verb]?.(...args);
      await wait();
      return answer;
    };
  const client: unknown = {
    ...server,
    create: slow('create'),
    replace: slow('replace'),
    patch: slow('patch'),
  };
  return client as LeaseOptions['client'];
}

export const UNREACHABLE = new KubeError('Unreachable', 'no route');
