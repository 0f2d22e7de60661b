/** Replaces placeholders such as `${dir}` by what this machine uses. Pure. */
import type { MachineComponentEntry, MachineComponentSpec } from '../../api/generated/types.ts';
import { PLACEHOLDER } from '../../api/machine/component-problems.ts';
import { CLUSTER_CA_FILE, dataDirectory, IDENTITY_KUBECONFIG } from '../layout.ts';
import type { TargetFacts } from './facts.ts';

export interface PlaceholderInput {
  readonly entry: Pick<MachineComponentEntry, 'parameters'>;
  readonly spec: MachineComponentSpec;
  readonly machine: TargetFacts;
  readonly directory: string;
  readonly ports: Readonly<Record<string, number>>;
}

function placeholderValues({
  entry,
  spec,
  machine,
  directory,
  ports,
}: PlaceholderInput): ReadonlyMap<string, string> {
  return new Map([
    ['dir', directory],
    ['data', dataDirectory(spec.component)],
    ['machine.name', machine.name],
    ['machine.address', machine.address],
    ['machine.zone', machine.zone],
    ['cluster.server', machine.clusterServer],
    ['cluster.caFile', CLUSTER_CA_FILE],
    ...(spec.identity === 'Kubelet' ? [['identity.kubeconfig', IDENTITY_KUBECONFIG] as const] : []),
    ...spec.parameters.map(
      ({ name, default: value }) => [`param.${name}`, entry.parameters[name] ?? value ?? ''] as const,
    ),
    ...Object.entries(ports).map(([name, port]) => [`port.${name}`, String(port)] as const),
  ]);
}

export interface Replacer {
  readonly replace: (text: string) => string;
  /** The placeholders that were found and have no value. */
  readonly unknown: ReadonlySet<string>;
  /** The placeholders that could have been written instead. */
  readonly known: readonly string[];
}

export function createReplacer(input: PlaceholderInput): Replacer {
  const values = placeholderValues(input);
  const unknown = new Set<string>();
  function valueOf(whole: string, name: string): string {
    const value = values.get(name);
    if (value === undefined) unknown.add(whole);
    return value ?? whole;
  }
  const inHost = hostPaths(input);
  const known = [...values.keys()].map((name) => `\${${name}}`);
  return { replace: (text) => inHost(text.replaceAll(PLACEHOLDER, valueOf)), unknown, known };
}

/** Replaces paths of the host: programs in a sandbox find the paths of their component in its directory, wherever a text names one. */
function hostPaths({
  spec,
  machine: { hostDirectory },
  directory,
}: PlaceholderInput): (text: string) => string {
  if (hostDirectory === '/') return (text) => text;
  const links = spec.artifacts.flatMap(({ install }) => install.map(({ to }) => to));
  const own = [
    directory,
    dataDirectory(spec.component),
    CLUSTER_CA_FILE,
    IDENTITY_KUBECONFIG,
    ...spec.files.map(({ path }) => path),
    ...links,
  ];
  const longestFirst = [...new Set(own)].toSorted((a, b) => b.length - a.length).map(escapePattern);
  // Not a part of a longer name: /etc/a is not in /etc/ab, and not in /other/etc/a.
  const pattern = new RegExp(`(?<![\\w.-])(?:${longestFirst.join('|')})(?![\\w-]|\\.\\w)`, 'g');
  return (text) => text.replaceAll(pattern, (path) => `${hostDirectory}${path}`);
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}
