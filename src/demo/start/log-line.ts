/** A line of the log of a program as a person reads it. Pure. */
import { isRecord, textAt } from '../../kube/objects/json.ts';
import { printableLine } from '../../kube/objects/printable.ts';

/** Other lines stay as they are: those of a crash of Node.js, for example. */
export function readableLogLine(line: string): string {
  const entry = parse(line);
  const message = textAt(entry, 'message');
  if (message === undefined) return line;
  const time = textAt(entry, 'time')?.slice(11, 19);
  const error = textAt(entry, 'error', 'message');
  const what = [message, error].filter((text) => text !== undefined).join(': ');
  return printableLine([time, textAt(entry, 'level'), what].filter(Boolean).join(' '));
}

function parse(line: string): unknown {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
