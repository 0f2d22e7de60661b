/** Keeps temporary credentials for as long as they are valid, and gets new ones before they expire. */
import type { Clock } from '../../os/clock.ts';
import { whenAborted } from '../../os/deadline.ts';

/** Credentials, or a token, that may expire. */
export interface Expiring {
  readonly expiresAt?: Date;
}

export interface CredentialSource<Credentials extends Expiring> {
  /** Throws ProviderError: Auth when there are no credentials, Retryable when it is not known whether there are. */
  get(signal: AbortSignal): Promise<Credentials>;
  /** Makes the next call get new ones: the service refused these before their time. */
  forget(refused: Credentials): void;
}

/** Longer than a call takes with all its waits, so that credentials do not expire under way. */
const REFRESH_BEFORE_MS = 300_000;

/**
 * Calls `load` when the credentials end soon, once for all calls that wait for it. Where that fails, those that are still valid are used.
 * `load` ends by itself: the signal of one call must not fail the others.
 */
export function createCredentialSource<Credentials extends Expiring>(
  load: () => Promise<Credentials>,
  clock: Clock,
): CredentialSource<Credentials> {
  let current: Credentials | undefined;
  let loading: Promise<Credentials> | undefined;

  function startLoading(): Promise<Credentials> {
    loading ??= load()
      .then((loaded) => {
        current = loaded;
        return loaded;
      })
      .finally(() => {
        loading = undefined;
      });
    return loading;
  }

  function leftMs({ expiresAt }: Credentials): number {
    return expiresAt ? expiresAt.getTime() - clock.now().getTime() : Number.POSITIVE_INFINITY;
  }

  return {
    async get(signal) {
      signal.throwIfAborted();
      if (current && leftMs(current) > REFRESH_BEFORE_MS) return current;
      try {
        return await untilAborted(startLoading(), signal);
      } catch (error) {
        signal.throwIfAborted();
        if (current && leftMs(current) > 0) return current;
        throw error;
      }
    },
    forget(refused) {
      if (current === refused) current = undefined;
    },
  };
}

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = whenAborted(signal, reject);
  try {
    return await Promise.race([work, promise]);
  } finally {
    stop();
  }
}
