/** Credentials that are the token of a person: of a kubeconfig or a pod only the server and its authority are used. */
import { KubeError } from '../client/errors.ts';
import type { Credentials } from './credentials.ts';

/** Returns the token for the next call: it may be renewed. Rejects when the person has to sign in again. */
export type BearerSource = () => Promise<string>;

interface BearerOptions {
  /** The URL of the server, to which the token is sent. */
  readonly server: string;
  /** "context prod of /home/me/.kube/config", for messages. */
  readonly origin: string;
}

/**
 * Creates credentials that send this token, and nothing else that `authority` knows: no certificate, and no header. Only over verified TLS:
 * a server that is not verified could keep the token.
 */
export function createBearerCredentials(
  authority: Credentials,
  bearer: BearerSource,
  { server, origin }: BearerOptions,
): Credentials {
  if (!server.startsWith('https://')) {
    throw new KubeError('Config', `tokens are sent over https only, got ${server} (${origin})`);
  }
  return {
    async current() {
      const { tls } = await authority.current();
      if (tls.insecure) {
        throw new KubeError(
          'Config',
          `tokens are sent to a verified server only: remove insecure-skip-tls-verify (${origin})`,
        );
      }
      return { tls, headers: { authorization: `Bearer ${await bearer()}` } };
    },
    forget: () => authority.forget(),
  };
}
