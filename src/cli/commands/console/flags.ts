/** The flags of `kubenode console`, and which of them need each other. */
import { isLoopbackHost } from '../../../console/login/http/site.ts';
import { ISSUER_NEEDED } from '../../../console/login/members/clusters-file.ts';
import type { ConnectionFlags } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';

export const LOGIN_WAYS = ['token', 'oidc'] as const;
export type LoginWay = (typeof LOGIN_WAYS)[number];

export interface ConsoleFlags extends ConnectionFlags {
  readonly port: number;
  readonly host: string;
  readonly login?: LoginWay;
  readonly url?: URL;
  /** Path of the file of the issuer. */
  readonly oidc?: string;
  /** Path of the kubeconfig with the other clusters to which ID tokens are sent. */
  readonly loginClusters?: string;
  readonly prometheusUrl?: string;
  /** The value of the label `cluster` of the series that are read. */
  readonly prometheusCluster?: string;
}

/** Refuses flags that need others. */
export function checkConsoleFlags(flags: Omit<ConsoleFlags, 'port'>): void {
  checkLogin(flags);
  checkPrometheus(flags);
}

/** Prometheus does not know the rights of people: only the person who starts a console with a login can tell which series are of its cluster. */
function checkPrometheus({ login, prometheusUrl, prometheusCluster }: Omit<ConsoleFlags, 'port'>): void {
  if (prometheusCluster !== undefined && prometheusUrl === undefined) {
    throw new CliError('--prometheus-cluster needs --prometheus-url', {
      hint: 'pass the Prometheus that has the series: --prometheus-url http://prometheus.monitoring:9090',
      exitCode: EXIT.usage,
    });
  }
  if (login === undefined || prometheusUrl === undefined || prometheusCluster !== undefined) return;
  throw new CliError('--login with --prometheus-url needs --prometheus-cluster', {
    hint: "pass the value of the label cluster of the series of this cluster, or --prometheus-cluster '' if they have no such label",
    exitCode: EXIT.usage,
  });
}

/** Without TLS a token could be read on its way: only a browser on this machine needs none. */
function checkLogin({ login, url, host, oidc, loginClusters }: Omit<ConsoleFlags, 'port'>): void {
  if (login === undefined && url !== undefined) {
    throw new CliError('--url needs --login', {
      hint: 'without a login everybody who reaches the address sees what you may read: pass --login token',
      exitCode: EXIT.usage,
    });
  }
  checkIssuer(login, oidc);
  checkLoginClusters(login, loginClusters);
  const isLocal = isLoopbackHost(host.includes(':') ? `[${host}]` : host);
  if (login === undefined || url !== undefined || isLocal) return;
  throw new CliError(`--login on ${host} needs --url`, {
    hint: 'pass the address that people open, with TLS in front: --url https://console.example.com',
    exitCode: EXIT.usage,
  });
}

/** One is nothing without the other. */
function checkIssuer(login: LoginWay | undefined, oidc: string | undefined): void {
  if ((login === 'oidc') === (oidc !== undefined)) return;
  throw new CliError(oidc === undefined ? '--login oidc needs --oidc' : '--oidc needs --login oidc', {
    hint: 'docs/guides/console-login.md describes the file with the issuer',
    exitCode: EXIT.usage,
  });
}

/** Other clusters accept the tokens of an issuer that they trust. A token that a person enters is for the API server of the console. */
function checkLoginClusters(login: LoginWay | undefined, loginClusters: string | undefined): void {
  if (loginClusters === undefined || login === 'oidc') return;
  throw new CliError('--login-clusters needs --login oidc', {
    hint: ISSUER_NEEDED,
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
