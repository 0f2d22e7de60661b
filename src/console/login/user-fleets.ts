/**
 * Holds what each signed-in person sees: a fleet that is read with the credentials of that person, while a page shows it and a short time
 * after. Sessions with the same credentials share one; nothing is shared between different credentials.
 */
import type { BearerSource } from '../../kube/auth/bearer.ts';
import type { Client } from '../../kube/client/client.ts';
import type { CallReport } from '../../kube/client/request.ts';
import type { Clock } from '../../os/clock.ts';
import type { FleetSource } from '../feeds/source.ts';
import { recordHistory } from '../server/history.ts';
import { createEventStreams, type EventStreams, type ReadOnDemand } from '../server/streams.ts';
import type { ConnectUser } from './identity.ts';
import type { SessionCredentials } from './sessions.ts';
import { createUserClient, type LossOfRights } from './user-client.ts';

/** The most fleets that are read at the same time. Each takes 35 MiB with 10,000 machines of 4 KiB, and nine watches of the API server. */
export const MAX_FLEETS = 12;
/** Each sign-in at an issuer has credentials of its own: one person must not take the places of all others. */
const MAX_FLEETS_OF_PERSON = 3;
/** How long a fleet is read without a page: a reload, and a page that connects again, find the last hour of it. */
const UNUSED_MS = 2 * 60_000;

/** `loss`: why the fleet ended, if an API server took something away. `cluster`: the other cluster that did; undefined: that of the console. */
export type OnFleetEnd = (
  credentialsKey: string,
  loss: LossOfRights | undefined,
  cluster: string | undefined,
) => void;

/** Connects once more with the credentials of the person. */
export type ConnectAgain = (onCall: (report: CallReport) => void) => Promise<Client>;

/** Holds the credentials with which other connections of the same person are made. They end with the fleet. */
export interface PersonAccess {
  readonly name: string;
  /** Names the credentials, also after the fleet has ended. */
  readonly credentialsKey: string;
  readonly bearer: BearerSource;
  readonly reconnect: ConnectAgain;
  /** Ends the fleet and its pages, which open again with what is left. It ends no session. */
  readonly onLoss: (loss: LossOfRights, cluster: string) => void;
}

export interface UserFleetsOptions {
  readonly clock: Clock;
  readonly connectUser: ConnectUser;
  /** Reads a fleet with this client only, and with connections of the same person. */
  readonly openFleet: (client: Client, signal: AbortSignal, person: PersonAccess) => Promise<FleetSource>;
  readonly onEnd: OnFleetEnd;
  readonly maxFleets?: number;
}

/** Why there are no streams: too many people have open pages, or the API server took something away while the fleet was opened. */
export type NoStreams = 'TooMany' | 'TooManyOfPerson' | 'Ended';

export interface UserFleets {
  /** Opens the streams of these credentials of a person. Rejects when the API server cannot be read. */
  open(credentials: SessionCredentials, person: string): Promise<EventStreams | NoStreams>;
  /** Returns what these credentials may read on demand, while their fleet is open. */
  source(credentialsKey: string): ReadOnDemand | undefined;
  /** Tells whether the fleet of these credentials is open. */
  has(credentialsKey: string): boolean;
  /** Ends the fleet of these credentials with all of its pages. */
  end(credentialsKey: string): void;
  /** Ends fleets that no page shows. */
  sweep(): void;
  readonly size: number;
  close(): Promise<void>;
}

interface UserFleet {
  readonly key: string;
  readonly person: string;
  readonly stop: AbortController;
  readonly opening: Promise<EventStreams>;
  /** Undefined while it is opened. */
  streams?: EventStreams;
  source?: FleetSource;
  usedMs: number;
}

export function createUserFleets(options: UserFleetsOptions): UserFleets {
  const { clock, onEnd, maxFleets = MAX_FLEETS } = options;
  /** By the key of their credentials. */
  const fleets = new Map<string, UserFleet>();
  /** Fleets whose watches have not ended yet. */
  const running = new Set<Promise<void>>();

  return {
    async open(credentials, person) {
      const fleet = fleets.get(credentials.key) ?? makePlace(person) ?? add(credentials, person);
      if (typeof fleet === 'string') return fleet;
      const streams = await fleet.opening;
      fleet.usedMs = clock.monotonicMs();
      return fleet.stop.signal.aborted ? 'Ended' : streams;
    },
    source: (key) => fleets.get(key)?.source,
    has: (key) => fleets.has(key),
    end(key) {
      const fleet = fleets.get(key);
      if (fleet) end(fleet);
    },
    sweep() {
      for (const fleet of fleets.values()) {
        if (fleet.streams?.size !== 0) fleet.usedMs = clock.monotonicMs();
        else if (clock.monotonicMs() - fleet.usedMs >= UNUSED_MS) end(fleet);
      }
    },
    get size() {
      return fleets.size;
    },
    async close() {
      for (const fleet of fleets.values()) end(fleet);
      await Promise.all(running);
    },
  };

  /** Returns why no further fleet of the person can be opened. A fleet that no page shows is ended for it. */
  function makePlace(person: string): NoStreams | undefined {
    const own = [...fleets.values()].filter((fleet) => fleet.person === person);
    if (own.length >= MAX_FLEETS_OF_PERSON && !endUnused(own)) return 'TooManyOfPerson';
    return fleets.size < maxFleets || endUnused([...fleets.values()]) ? undefined : 'TooMany';
  }

  function endUnused(among: readonly UserFleet[]): boolean {
    const unused = among.find(({ streams }) => streams?.size === 0);
    if (unused) end(unused);
    return unused !== undefined;
  }

  function add(credentials: SessionCredentials, person: string): UserFleet {
    const { key } = credentials;
    const stop = new AbortController();
    const { promise: opening, resolve, reject } = Promise.withResolvers<EventStreams>();
    const fleet: UserFleet = { key, person, stop, opening, usedMs: clock.monotonicMs() };
    fleets.set(key, fleet);
    const onLoss: FleetRun['onLoss'] = (loss, cluster) => end(fleet, loss, cluster);
    const ran = runFleet(
      { ...options, person, credentials, onLoss, signal: stop.signal },
      (streams, source) => {
        Object.assign(fleet, { streams, source });
        resolve(streams);
      },
    );
    const over = ran.catch((error: unknown) => {
      reject(error);
      end(fleet);
    });
    running.add(over);
    void over.finally(() => running.delete(over));
    return fleet;
  }

  /** Calls for a fleet that has ended already do nothing: all of its watches report a loss. */
  function end(fleet: UserFleet, loss?: LossOfRights, cluster?: string): void {
    if (fleet.stop.signal.aborted) return;
    fleet.stop.abort();
    if (fleets.get(fleet.key) === fleet) fleets.delete(fleet.key);
    onEnd(fleet.key, loss, cluster);
  }
}

interface FleetRun extends Pick<UserFleetsOptions, 'clock' | 'connectUser' | 'openFleet'> {
  readonly person: string;
  readonly credentials: SessionCredentials;
  readonly onLoss: (loss: LossOfRights, cluster?: string) => void;
  readonly signal: AbortSignal;
}

/** Resolves after the signal, when all watches have ended. */
async function runFleet(
  { clock, connectUser, openFleet, person: name, credentials, onLoss, signal }: FleetRun,
  onOpen: (streams: EventStreams, source: FleetSource) => void,
): Promise<void> {
  const { key: credentialsKey, bearer } = credentials;
  const onOwnLoss = (loss: LossOfRights): void => onLoss(loss);
  const client = createUserClient({ client: await connectUser(bearer), clock, onLoss: onOwnLoss });
  try {
    const reconnect: ConnectAgain = async (onCall) =>
      createUserClient({ client: await connectUser(bearer, onCall), clock, onLoss: onOwnLoss });
    const source = await openFleet(client, signal, { name, credentialsKey, bearer, reconnect, onLoss });
    const recorded = recordHistory(source, clock);
    const streams = createEventStreams({ source: recorded, clock });
    const parts = [source.run(signal), recorded.run(signal), streams.run(signal)];
    onOpen(streams, source);
    await Promise.all(parts);
  } finally {
    await client.close();
  }
}
