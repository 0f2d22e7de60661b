/** Tells whether a kubelet reads the CA and the certificate that the agent keeps, by the files and units of its component. Pure. */
import { CLUSTER_CA_FILE, IDENTITY_KUBECONFIG } from '../layout.ts';
import type { Target } from '../target/target.ts';

/** The files and units of a component, with their placeholders replaced. */
export type InstalledKubelet = Pick<Target, 'files' | 'units'>;

/** A flag, or a field of YAML or JSON, with its value. */
const KUBECONFIG = valueOf('--kubeconfig');
const CONFIG = valueOf('--config');
const CONFIG_DIRECTORY = valueOf('--config-dir');
const COMMAND = /^ExecStart=[ \t]*\S/m;
const CLIENT_CA = [valueOf('--client-ca-file'), fieldOf('clientCAFile')];
const ROTATES = [
  /--rotate-certificates(?![\w=-])/,
  /--rotate-certificates=["']?true/,
  /\brotateCertificates["']?\s*:\s*true/,
];

/**
 * A kubelet that reads a configuration of others may trust any CA, and one that renews its certificate itself does not use that of the
 * agent.
 */
export function usesAgentFiles({ files, units }: InstalledKubelet): boolean {
  const commands = units.map(commandOf);
  const texts = [...commands, ...files.map(({ content }) => content)];
  const found = (pattern: RegExp): readonly string[] => texts.flatMap((text) => valuesIn(text, pattern));
  if (!units.some(hasCommand)) return false;
  const kubeconfigs = found(KUBECONFIG);
  if (kubeconfigs.length === 0) return false;
  if (!kubeconfigs.every((path) => isPath(path, IDENTITY_KUBECONFIG))) return false;
  if (!CLIENT_CA.flatMap(found).every((path) => isPath(path, CLUSTER_CA_FILE))) return false;
  if (texts.some((text) => ROTATES.some((pattern) => pattern.test(text)))) return false;
  const isInstalled = (path: string): boolean => files.some((file) => isPath(path, file.path));
  const hasFileIn = (path: string): boolean =>
    files.some((file) => isPath(path, file.path.slice(0, file.path.lastIndexOf('/'))));
  return found(CONFIG).every(isInstalled) && found(CONFIG_DIRECTORY).every(hasFileIn);
}

/** A unit that the host had may be started with any flags, unless a drop-in replaces its command. */
function hasCommand({ exec, raw = '', dropIns }: Target['units'][number]): boolean {
  return (
    exec !== undefined || [raw, ...dropIns.map(({ content }) => content)].some((text) => COMMAND.test(text))
  );
}

/** The words of a command line are quoted in the text of a unit, and not in a list of arguments. */
function commandOf({ exec, raw, dropIns }: Target['units'][number]): string {
  const { argv = [], env = {} } = exec ?? {};
  return [argv.join(' '), ...Object.values(env), raw ?? '', ...dropIns.map(({ content }) => content)].join(
    '\n',
  );
}

/** A value in the next argument counts as one behind an equals sign. */
function valueOf(flag: string): RegExp {
  return new RegExp(`(?<![\\w-])${flag}(?:=|\\s+)["']?([^\\s"']*)`, 'g');
}

function fieldOf(name: string): RegExp {
  return new RegExp(`\\b${name}["']?\\s*:\\s*["']?([^\\s"',}]*)`, 'g');
}

function valuesIn(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, value = '']) => value);
}

/** Programs of a sandbox find a path of the host in its directory. */
function isPath(found: string, path: string): boolean {
  return found === path || found.endsWith(path);
}
