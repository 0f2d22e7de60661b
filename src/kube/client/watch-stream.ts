/** The stream of a watch, one JSON object a line, as events. */

import { isRecord } from '../objects/json.ts';
import type { Resource } from '../objects/object.ts';
import type { HttpStream } from '../transport/transport.ts';
import type { WatchEvent } from './client.ts';
import { KubeError } from './errors.ts';
import { apiVersionOf } from './paths.ts';
import { errorOfResponse, errorOfStatus, isKubeObject, isStatus } from './response.ts';

const TYPES: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']);
const NEWLINE = 10;
// etcd holds objects of at most 1.5 MiB by default; a line without an end is a broken server, not an object.
const LONGEST_LINE = 64 * 2 ** 20;

/** Ends when the server ends the watch; rejects when it breaks off, also in the middle of a line. */
export async function* readWatchEvents(stream: HttpStream, resource: Resource): AsyncGenerator<WatchEvent> {
  if (stream.status !== 200) throw await refused(stream);
  for await (const line of linesOf(stream.body)) {
    if (line !== '') yield eventOf(line, resource);
  }
}

async function refused({ status, headers, body }: HttpStream): Promise<KubeError> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return errorOfResponse({ status, headers, body: Buffer.concat(parts).toString('utf8') });
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    let from = 0;
    for (let to = piece.indexOf(NEWLINE); to >= 0; to = piece.indexOf(NEWLINE, from)) {
      yield textOf([...rest, piece.subarray(from, to)]);
      [rest, size, from] = [[], 0, to + 1];
    }
    if (from < piece.length) rest.push(piece.subarray(from));
    size += piece.length - from;
    if (size > LONGEST_LINE) throw new KubeError('BadAnswer', `an event longer than ${LONGEST_LINE} bytes`);
  }
  if (size > 0) throw new KubeError('Unreachable', 'the watch was cut off in the middle of an event');
}

function textOf(pieces: readonly Uint8Array[]): string {
  return Buffer.concat(pieces).toString('utf8');
}

function eventOf(line: string, resource: Resource): WatchEvent {
  const event = parsed(line);
  const { type, object } = event;
  if (type === 'ERROR') throw errorEvent(object);
  if (!TYPES.has(type)) throw new KubeError('BadAnswer', `an event of the unknown type ${String(type)}`);
  if (!isFitting(object, type === 'BOOKMARK', resource)) {
    throw new KubeError(
      'BadAnswer',
      `an event that is not about a ${resource.kind} of ${apiVersionOf(resource)}`,
    );
  }
  return event as unknown as WatchEvent;
}

function parsed(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    if (isRecord(value)) return value;
  } catch {
    // Said below; the parser's own words quote the line, which may be of a Secret.
  }
  throw new KubeError('BadAnswer', 'an event that is no JSON object');
}

function errorEvent(object: unknown): KubeError {
  if (!isStatus(object)) return new KubeError('BadAnswer', 'an ERROR event without a Status');
  return errorOfStatus(object, object.code ?? 500);
}

/** A bookmark is only a resourceVersion; all else is a whole object with one. */
function isFitting(object: unknown, bookmark: boolean, resource: Resource): boolean {
  if (
    !isRecord(object) ||
    object['kind'] !== resource.kind ||
    object['apiVersion'] !== apiVersionOf(resource)
  ) {
    return false;
  }
  const { metadata } = object;
  if (!isRecord(metadata) || typeof metadata['resourceVersion'] !== 'string') return false;
  return bookmark || isKubeObject(object);
}
