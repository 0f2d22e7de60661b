/** Names the first object and field in which two renders of one commit differ. */
import { findFieldDifferences } from '../../kube/objects/field-differences.ts';
import { isRecord, type JsonRecord } from '../../kube/objects/json.ts';
import { RenderError } from './errors.ts';

export function nondeterminismError(first: Buffer, second: Buffer): RenderError {
  const [a = [], b = []] = [first, second].map((bytes) => bytes.toString('utf8').split('\n'));
  const index = a.findIndex((line, position) => line !== b[position]);
  const [line, other] = [recordOf(a[index]), recordOf(b[index])];
  const field = findFieldDifferences(line['object'], other['object'])[0]?.path;
  const message = `two renders of the same commit differ in ${nameOf(line['object'])}${field ? `, field ${field}` : ''}`;
  return new RenderError(
    'NotDeterministic',
    [{ message, ...textAt(line, 'file'), ...textAt(line, 'construct') }],
    'make the program independent of time, randomness, paths and the order of directories',
  );
}

function recordOf(line: string | undefined): JsonRecord {
  try {
    return JSON.parse(line ?? '{}') as JsonRecord;
  } catch {
    return {};
  }
}

function nameOf(object: unknown): string {
  if (!isRecord(object)) return 'the result';
  const metadata = isRecord(object['metadata']) ? object['metadata'] : {};
  return [object['kind'], metadata['name']].filter((word) => typeof word === 'string').join(' ');
}

function textAt(record: JsonRecord, key: string): Record<string, string> {
  const value = record[key];
  return typeof value === 'string' ? { [key]: value } : {};
}
