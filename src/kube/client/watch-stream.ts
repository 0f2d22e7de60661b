/** Parses the stream of a watch, which has one JSON object per line. */
import { isRecord } from '../objects/json.ts';
import type { Resource } from '../objects/object.ts';
import type { HttpStream } from '../transport/transport.ts';
import type { WatchEvent } from './client.ts';
import { KubeError } from './errors.ts';
import { apiVersionOf } from './paths.ts';
import { errorOfResponse, errorOfStatus, isKubeObject, isStatus } from './response.ts';

const TYPES: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']);
const NEWLINE = 10;
// etcd limits objects to 1.5 MiB by default: a longer line comes from a broken server.
const MAX_LINE_BYTES = 64 * 2 ** 20;

/** Ends when the server ends the watch. Rejects when it is cut off, for example within a line. */
export async function* readWatchEvents(stream: HttpStream, resource: Resource): AsyncGenerator<WatchEvent> {
  if (stream.status !== 200) throw await readError(stream);
  for await (const line of readLines(stream.body)) {
    if (line !== '') yield parseEvent(line, resource);
  }
}

async function readError({ status, headers, body }: HttpStream): Promise<KubeError> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return errorOfResponse({ status, headers, body: Buffer.concat(parts).toString('utf8') });
}

async function* readLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to >= 0; to = chunk.indexOf(NEWLINE, from)) {
      yield textOf([...rest, chunk.subarray(from, to)]);
      [rest, size, from] = [[], 0, to + 1];
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > MAX_LINE_BYTES) {
      throw new KubeError('BadAnswer', `watch event longer than ${MAX_LINE_BYTES} bytes`);
    }
  }
  if (size > 0) throw new KubeError('Unreachable', 'the watch was cut off in the middle of an event');
}

function textOf(chunks: readonly Uint8Array[]): string {
  return Buffer.concat(chunks).toString('utf8');
}

function parseEvent(line: string, resource: Resource): WatchEvent {
  const event = parseLine(line);
  const { type, object } = event;
  if (type === 'ERROR') throw errorEvent(object);
  if (!TYPES.has(type)) throw new KubeError('BadAnswer', `watch event of unknown type ${String(type)}`);
  if (!isEventObject(object, type === 'BOOKMARK', resource)) {
    throw new KubeError('BadAnswer', `watch event without a ${resource.kind} of ${apiVersionOf(resource)}`);
  }
  return event as unknown as WatchEvent;
}

function parseLine(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    if (isRecord(value)) return value;
  } catch {
    // Reported below. The parser's message quotes the line, which may be of a Secret.
  }
  throw new KubeError('BadAnswer', 'watch event is not a JSON object');
}

function errorEvent(object: unknown): KubeError {
  if (!isStatus(object)) return new KubeError('BadAnswer', 'ERROR event without a Status');
  return errorOfStatus(object, object.code ?? 500);
}

/** A bookmark has only a resourceVersion; other events have a complete object. */
function isEventObject(object: unknown, bookmark: boolean, resource: Resource): boolean {
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
