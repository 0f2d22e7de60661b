/** Replaces placeholders such as `${dir}` by what this machine uses. Pure. */
import type { MachineComponentEntry, MachineComponentSpec } from '../../api/generated/types.ts';
import { CLUSTER_CA_FILE, dataDirectory, IDENTITY_KUBECONFIG } from '../layout.ts';
import type { TargetFacts } from './facts.ts';

const PLACEHOLDER = /\$\{([a-z]+(?:\.[A-Za-z0-9-]+)?)\}/g;

export interface PlaceholderInput {
  readonly entry: MachineComponentEntry;
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
  /** Placeholders that were found and have no value. */
  readonly unknown: ReadonlySet<string>;
}

export function createReplacer(input: PlaceholderInput): Replacer {
  const values = placeholderValues(input);
  const unknown = new Set<string>();
  function valueOf(whole: string, name: string): string {
    const value = values.get(name);
    if (value === undefined) unknown.add(whole);
    return value ?? whole;
  }
  return { replace: (text) => text.replaceAll(PLACEHOLDER, valueOf), unknown };
}
