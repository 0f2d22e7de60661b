/** A line of the log for people, from the JSON for programs. Pure. */
import { isRecord } from '../objects/json.ts';
import { printableLine, printableText } from '../objects/printable.ts';

/** `03:12:01  warn  object applied  cluster=pre because="changed in git"`. What is not a JSON object stays as it is. */
export function logText(line: string): string {
  const entry = parse(line);
  if (!entry) return printableText(line);
  const { time, level, message, ...fields } = entry;
  const parts = [
    textOf(time).slice(11, 19),
    ...(level === 'info' ? [] : [textOf(level)]),
    textOf(message),
    Object.entries(fields).map(fieldText).join(' '),
  ];
  return `${printableLine(parts.filter(Boolean).join('  '))}\n`;
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    return isRecord(entry) ? entry : undefined;
  } catch {
    return undefined;
  }
}

function fieldText([name, value]: readonly [string, unknown]): string {
  return `${name}=${valueText(value)}`;
}

/** The message of an error: the rest is for programs. */
function valueText(value: unknown): string {
  if (isRecord(value) && typeof value['message'] === 'string') return quoted(value['message']);
  return typeof value === 'string' ? quoted(value) : JSON.stringify(value);
}

function quoted(text: string): string {
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
