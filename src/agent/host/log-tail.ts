/** What may be shown of a log: printable, and without secrets. */
import { printableText } from '../../kube/objects/printable.ts';
import { redactText } from '../../kube/process/redact-log.ts';

export function cleanLogTail(content: Buffer, maxBytes: number): string {
  return printableText(redactText(content.subarray(Math.max(0, content.length - maxBytes)).toString('utf8')));
}
