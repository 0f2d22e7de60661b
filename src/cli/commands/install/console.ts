/** The options of `kubenode install` for a console in the cluster, with a login. */
import { InvalidArgumentError, Option } from 'commander';
import { CONSOLE, type DeployedProgram } from '../../../deploy/programs.ts';
import { parseConsoleUrl } from '../../option-parsers.ts';

export interface ConsoleInstallFlags {
  /** The address that people open. */
  readonly console?: URL;
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

export function consolePrograms({ console: url }: ConsoleInstallFlags): readonly DeployedProgram[] {
  if (url === undefined) return [];
  return [{ ...CONSOLE, args: [...CONSOLE.args, '--login', 'token', '--url', url.origin] }];
}
