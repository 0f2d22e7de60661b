/** The options of `kubenode install` for a console in the cluster, with a login. */
import { InvalidArgumentError, Option } from 'commander';
import { NAMESPACE } from '../../../api/names.ts';
import { ISSUER_NEEDED } from '../../../console/login/members/clusters-file.ts';
import {
  CLUSTERS_FILE,
  CLUSTERS_FOLDER,
  CONSOLE,
  type DeployedProgram,
  OIDC_FILE,
  OIDC_FOLDER,
} from '../../../deploy/programs.ts';
import { CliError, EXIT } from '../../errors.ts';
import { parseConsoleUrl, parseSecretName } from '../../option-parsers.ts';

export interface ConsoleInstallFlags {
  /** The address that people open. */
  readonly console?: URL;
  /** The name of a Secret. */
  readonly consoleOidc?: string;
  /** The name of a Secret. */
  readonly consoleClusters?: string;
  readonly prometheusUrl?: string;
  /** The value of the label `cluster` of the series that the console reads. Empty: those without the label. */
  readonly prometheusCluster?: string;
}

export function createConsoleOption(): Option {
  return new Option(
    '--console <url>',
    'also run kubenode console in this cluster, where each person signs in; the https address that people open, with an Ingress or a Gateway in front',
  ).argParser(parseInstalledUrl);
}

/** In a cluster, a browser is never on the same machine. */
function parseInstalledUrl(text: string): URL {
  const url = parseConsoleUrl(text);
  if (url.protocol === 'https:') return url;
  throw new InvalidArgumentError(`Expected https://NAME[:PORT], got ${JSON.stringify(text)}.`);
}

export function createConsoleIssuerOption(): Option {
  return new Option(
    '--console-oidc <secret>',
    `with --console: Secret in ${NAMESPACE} with ${OIDC_FILE} and the files that it names: people sign in at that issuer, not with a token`,
  ).argParser(parseSecretName);
}

export function createConsoleClustersOption(): Option {
  return new Option(
    '--console-clusters <secret>',
    `with --console-oidc: Secret in ${NAMESPACE} with ${CLUSTERS_FILE}, a kubeconfig without credentials: the other clusters that are read with the ID token of each person`,
  ).argParser(parseSecretName);
}

export function createConsolePrometheusOption(): Option {
  return new Option(
    '--prometheus-cluster <name>',
    "with --console and --prometheus-url, required there: value of the label cluster of this cluster's series; empty for those without the label",
  );
}

export function consolePrograms({
  console: url,
  consoleOidc,
  consoleClusters,
  prometheusCluster,
}: ConsoleInstallFlags): readonly DeployedProgram[] {
  if (url === undefined) return [];
  const series = prometheusCluster === undefined ? [] : ['--prometheus-cluster', prometheusCluster];
  const named = { ...CONSOLE, args: [...CONSOLE.args, '--url', url.origin, ...series] };
  const program = consoleOidc === undefined ? withTokens(named) : withIssuer(named, consoleOidc);
  return [consoleClusters === undefined ? program : withClusters(program, consoleClusters)];
}

/** The pod may connect to the ports of API servers already, and an issuer lets it find servers by name. */
function withClusters(program: DeployedProgram, secret: string): DeployedProgram {
  return {
    ...program,
    args: [...program.args, '--login-clusters', `${CLUSTERS_FOLDER}/${CLUSTERS_FILE}`],
    secrets: [...(program.secrets ?? []), { volume: 'clusters', secret, folder: CLUSTERS_FOLDER }],
  };
}

function withTokens(program: DeployedProgram): DeployedProgram {
  return { ...program, args: [...program.args, '--login', 'token'] };
}

/** Adds the Secret of the issuer, and the right to find it by name. The port of HTTPS is that of API servers, too. */
function withIssuer(program: DeployedProgram, secret: string): DeployedProgram {
  return {
    ...program,
    args: [...program.args, '--login', 'oidc', '--oidc', `${OIDC_FOLDER}/${OIDC_FILE}`],
    secrets: [{ volume: 'oidc', secret, folder: OIDC_FOLDER }],
    usesDns: true,
  };
}

/** Prometheus does not know the rights of people: a person has to name the series of this cluster. */
function checkSeries({ console: url, prometheusUrl, prometheusCluster }: ConsoleInstallFlags): void {
  if (prometheusCluster !== undefined && (url === undefined || prometheusUrl === undefined)) {
    throw new CliError('--prometheus-cluster needs --console and --prometheus-url', {
      hint: 'only the console reads series by it: pass both',
      exitCode: EXIT.usage,
    });
  }
  if (url !== undefined && prometheusUrl !== undefined && prometheusCluster === undefined) {
    throw new CliError('--console with --prometheus-url needs --prometheus-cluster', {
      hint: "pass the value of the label cluster of the series of this cluster, or --prometheus-cluster '' if they have no such label",
      exitCode: EXIT.usage,
    });
  }
}

export function checkConsole(flags: ConsoleInstallFlags): void {
  const { console: url, consoleOidc, consoleClusters } = flags;
  checkSeries(flags);
  if (consoleClusters !== undefined && consoleOidc === undefined) {
    throw new CliError('--console-clusters needs --console-oidc', {
      hint: ISSUER_NEEDED,
      exitCode: EXIT.usage,
    });
  }
  if (consoleOidc === undefined || url !== undefined) return;
  throw new CliError('--console-oidc needs --console', {
    hint: 'pass the address that people open: --console https://kubenode.example.com',
    exitCode: EXIT.usage,
  });
}
