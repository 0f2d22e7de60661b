/** Runs the Defender inside a command: it reads the cluster once, decides with the same code, and writes the ledger by compare-and-swap. */
import { NAMESPACE, PRINCIPAL_DEFENDER } from '../../api/names.ts';
import { createDefender, type Defender, type DefenderOptions } from '../../defender/defender.ts';
import { createCallWindow } from '../../defender/facts/call-window.ts';
import { readUser, type User } from '../../kube/auth/self-review.ts';
import type { Client } from '../../kube/client/client.ts';
import { connect } from '../../kube/client/connect.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import { impersonateServiceAccount } from '../../kube/controller/principals.ts';
import { createLogger } from '../../kube/process/logger.ts';
import { withDeadline } from '../../os/deadline.ts';
import { systemRandom } from '../../os/system-random.ts';
import { type ConnectionFlags, findKubeconfig } from '../connection.ts';
import { CliError, EXIT } from '../errors.ts';
import type { Io } from '../io.ts';
import { type StepProgress, withProgress } from '../progress.ts';

export interface DefenderSession {
  readonly defender: Defender;
  /** The client with the rights of the person. */
  readonly client: Client;
  readonly user: User;
}

/**
 * Runs the work when every view is complete, as kubenode-defender, which may write the ledger: the person needs the permission to
 * impersonate it. Resolves with its result.
 */
export async function withDefender<T>(
  io: Io,
  flags: ConnectionFlags,
  work: (session: DefenderSession) => Promise<T>,
): Promise<T> {
  const { clock } = io;
  const calls = createCallWindow(clock);
  const kubeconfig = findKubeconfig(io, flags);
  const connection = {
    clock,
    onCall: (report: Parameters<typeof calls.add>[0]) => calls.add(report),
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(flags.context === undefined ? {} : { context: flags.context }),
  };
  const client = await connect(connection);
  const impersonate = impersonateServiceAccount({ namespace: NAMESPACE, name: PRINCIPAL_DEFENDER });
  const own = await connect({ ...connection, impersonate });
  try {
    const user = await readUser(client, io.signal);
    return await withDefenderViews(
      io,
      { client: own, calls },
      (defender) => work({ defender, client, user }),
      {
        explain: explainForbidden,
        wait: waitVisibly(io),
      },
    );
  } finally {
    await Promise.all([client.close(), own.close()]);
  }
}

/** Returns a wait that tells a person at a terminal what takes long. A script gets the same output whatever the size of its cluster. */
export function waitVisibly(io: Io): NonNullable<ViewsOptions['wait']> {
  return (complete) => (io.interactive ? withProgress(io, countFleet(complete)) : complete());
}

export interface ViewsOptions {
  /** Explains an error of the first requests. Default: the error itself. */
  readonly explain?: (error: unknown) => unknown;
  /** Waits until every view is complete. */
  readonly wait?: (complete: () => Promise<unknown>) => Promise<unknown>;
}

/** Runs the work when every view is complete. Rejects at once when one of them cannot be read. */
export async function withDefenderViews<T>(
  io: Pick<Io, 'clock' | 'signal' | 'err'>,
  { client, calls }: Pick<DefenderOptions, 'client' | 'calls'>,
  work: (defender: Defender) => Promise<T>,
  { explain = (error) => error, wait = (complete) => complete() }: ViewsOptions = {},
): Promise<T> {
  const { clock, signal } = io;
  const log = createLogger({ level: 'error', stream: { write: (line) => io.err(line) }, clock });
  const defender = createDefender({ client, clock, log, random: systemRandom, calls, leads: isNotLeading });
  const stop = new AbortController();
  const views = Object.values(defender.views);
  try {
    // The first answer that is an error ends the command with its hint; views would try again for ever.
    await Promise.all(views.map(({ resource }) => client.list(resource, { limit: 1, signal }))).catch(
      (error: unknown) => {
        throw explain(error);
      },
    );
    const running = views.map(({ reflector }) => reflector.run(stop.signal));
    try {
      await wait(async () => {
        await Promise.all(views.map(({ reflector }) => reflector.synced(signal)));
        await signsListed(defender, { clock, signal });
      });
      return await work(defender);
    } finally {
      stop.abort();
      await Promise.all(running);
    }
  } finally {
    defender.close();
  }
}

/** A Lease or label that a policy names and that cannot be read in this time is unobserved: the policy denies, and names it. */
const SIGNS_MS = 10_000;

async function signsListed(
  { observer }: Defender,
  { clock, signal }: Pick<Io, 'clock' | 'signal'>,
): Promise<void> {
  const late = new Error('not listed in time');
  const limit = { clock, ms: SIGNS_MS, signal, expired: () => late };
  await withDeadline(limit, (ended) => observer.signsListed(ended)).catch((error: unknown) => {
    if (error !== late) throw error;
  });
}

function countFleet(complete: () => Promise<unknown>): (progress: StepProgress) => Promise<unknown> {
  return async (progress) => {
    progress.step('reading every Node and Machine of the cluster, to count those out of service');
    await complete();
  };
}

function explainForbidden(error: unknown): unknown {
  if (!isKubeError(error, 'Forbidden')) return error;
  return new CliError(error.message, {
    hint: 'this needs the permission to impersonate kubenode-defender. Without it use the HTTP API (approve and refuse: --http): docs/guides/http-api.md',
    exitCode: EXIT.denied,
    cause: error,
  });
}

function isNotLeading(): boolean {
  return false;
}
