/** The flags of `kubenode console`, and which of them need each other. */
import { isLoopbackHost } from '../../../console/login/site.ts';
import type { ConnectionFlags } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';

export const LOGIN_WAYS = ['token'] as const;
export type LoginWay = (typeof LOGIN_WAYS)[number];

export interface ConsoleFlags extends ConnectionFlags {
  readonly port: number;
  readonly host: string;
  readonly login?: LoginWay;
  readonly url?: URL;
}

/** Without TLS a token could be read on its way: only a browser on this machine needs none. */
export function checkLogin({ login, url, host }: Pick<ConsoleFlags, 'login' | 'url' | 'host'>): void {
  if (login === undefined && url !== undefined) {
    throw new CliError('--url needs --login', {
      hint: 'without a login everybody who reaches the address sees what you may read: pass --login token',
      exitCode: EXIT.usage,
    });
  }
  const isLocal = isLoopbackHost(host.includes(':') ? `[${host}]` : host);
  if (login === undefined || url !== undefined || isLocal) return;
  throw new CliError(`--login on ${host} needs --url`, {
    hint: 'pass the address that people open, with TLS in front: --url https://console.example.com',
    exitCode: EXIT.usage,
  });
}

/** Names of contexts may be paths, and the name begins the keys of rows. */
export function homeName({ context = 'this cluster' }: ConnectionFlags): string {
  return context.slice(context.lastIndexOf('/') + 1);
}

/** Ctrl-C is how it ends: that is not an error. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
}
