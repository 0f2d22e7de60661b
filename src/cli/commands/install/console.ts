/** The options of `kubenode install` for a console in the cluster, with a login. */
import { InvalidArgumentError, Option } from 'commander';
import { NAMESPACE } from '../../../api/names.ts';
import { CONSOLE, type DeployedProgram, OIDC_FILE, OIDC_FOLDER } from '../../../deploy/programs.ts';
import { CliError, EXIT } from '../../errors.ts';
import { parseConsoleUrl, parseSecretName } from '../../option-parsers.ts';

export interface ConsoleInstallFlags {
  /** The address that people open. */
  readonly console?: URL;
  /** The name of a Secret. */
  readonly consoleOidc?: string;
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

export function consolePrograms({
  console: url,
  consoleOidc,
}: ConsoleInstallFlags): readonly DeployedProgram[] {
  if (url === undefined) return [];
  const named = { ...CONSOLE, args: [...CONSOLE.args, '--url', url.origin] };
  return [consoleOidc === undefined ? withTokens(named) : withIssuer(named, consoleOidc)];
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

export function checkConsole({ console: url, consoleOidc }: ConsoleInstallFlags): void {
  if (consoleOidc === undefined || url !== undefined) return;
  throw new CliError('--console-oidc needs --console', {
    hint: 'pass the address that people open: --console https://kubenode.example.com',
    exitCode: EXIT.usage,
  });
}
