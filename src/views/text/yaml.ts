import { stringify } from 'yaml';
import { printableYaml } from '../../kube/objects/printable.ts';

export function formatYaml(data: unknown): string {
  return printableYaml(stringify(data, { aliasDuplicateObjects: false, lineWidth: 0 }));
}
