/** Formats Machines as TypeScript for `fleet/hosts.ts`. Pure. */
import { isRecord } from '../../../../kube/objects/json.ts';
import type { ImportedMachine } from './machines.ts';

/** Returns a module that compiles as it is. Texts are literals: nothing that a host reports is code. */
export function formatMachineModule(machines: readonly ImportedMachine[]): string {
  const statements = machines.map(({ metadata, spec }) => {
    const props = literal({ metadata, spec }, 1);
    return `  new Machine(chart, ${quote(metadata.name)}, ${props});\n`;
  });
  return `/** Hosts that exist, with the keys that they must show. Call it in fleet/main.ts for their cluster. */
import { type FleetCluster, Machine } from 'kubenode/constructs';

export function declareHosts(cluster: FleetCluster): void {
  const chart = cluster.unit('hosts');
${statements.join('')}}
`;
}

function literal(value: unknown, level: number): string {
  const inner = '  '.repeat(level + 1);
  const end = `\n${'  '.repeat(level)}`;
  if (Array.isArray(value)) {
    const items = (value as readonly unknown[]).map((item) => `\n${inner}${literal(item, level + 1)},`);
    return items.length === 0 ? '[]' : `[${items.join('')}${end}]`;
  }
  if (isRecord(value)) {
    const fields = Object.entries(value).map(
      ([name, field]) => `\n${inner}${fieldName(name)}: ${literal(field, level + 1)},`,
    );
    return fields.length === 0 ? '{}' : `{${fields.join('')}${end}}`;
  }
  return typeof value === 'string' ? quote(value) : JSON.stringify(value);
}

function fieldName(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) && name !== '__proto__' ? name : quote(name);
}

/** The escapes of JSON are those of TypeScript. */
function quote(text: string): string {
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${escaped}'`;
}
