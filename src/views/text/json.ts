import { printableText } from '../../kube/objects/printable.ts';

export function formatJson(data: unknown): string {
  return `${printableText(JSON.stringify(data, undefined, 2))}\n`;
}
